import { describe, expect, it } from 'vitest';
import { clicks, firstTouch, type Plugin, pageViews, type Tracker } from '../../src/index.ts';
import { engagement, exclude, forms, sessions } from '../../src/plugins.ts';
import { catalogue, memorySeen, signPrimaryKey } from '../../src/relay.ts';
import { contains } from '../../src/testing/ledger.ts';
import { createRejected } from '../../src/testing/rejected.ts';
import { type RehearsedFault, rehearse } from '../../src/testing.ts';
import { catalogueOf } from '../catalogue/readSource.ts';

interface Events {
  signup: { plan: 'free' | 'pro' };
  left: undefined;
}

const UPGRADE = { event: 'signup', filter: { plan: 'pro' } };
const FAULTS: readonly RehearsedFault[] = [
  'none',
  'answer lost',
  'unavailable',
  'offline',
  'departure',
  'crash',
  'crash in flight',
  'duplicate request',
];

describe('a rehearsed journey', () => {
  it('starts exactly once under every fault, for the right customer', async () => {
    const { unexpected, starts, runs } = await rehearse<Events>(UPGRADE, (tracker) => {
      tracker.track('signup', { plan: 'free' });
      tracker.identify('customer-4711', { plan: 'pro' });
      tracker.track('signup', { plan: 'pro' });
      tracker.track('left');
    });
    expect(unexpected).toEqual([]);
    expect(starts).toEqual(Object.fromEntries(FAULTS.map((fault) => [fault, 1])));
    for (const { fault, starts: all, queued, dropped } of runs) {
      expect(all, fault).toMatchObject([{ primaryKey: 'customer-4711', event: { payload: { plan: 'pro' } } }]);
      expect([queued, dropped], fault).toEqual([0, []]);
    }
  });

  it.each(FAULTS)('that two calls start, starts twice under the fault %s', async (fault) => {
    const both = await rehearse(
      { event: 'signup' },
      async (tracker) => {
        tracker.track('signup');
        await Promise.resolve();
        void tracker.trackNow('signup');
      },
      { faults: [fault] },
    );
    expect(both.starts).toEqual({ [fault]: 2 });
    expect(both.unexpected).toEqual([`${fault}: started 2 times in place of 1`]);
  });

  it('that must not start is expected 0 times', async () => {
    const { unexpected } = await rehearse(UPGRADE, ({ track }) => track('signup', { plan: 'free' }), { times: 0 });
    expect(unexpected).toEqual([]);
  });

  it('starts twice if the answer of the service is lost and the service drops no duplicates', async () => {
    const { starts } = await rehearse({ event: 'signup' }, ({ track }) => track('signup'), {
      faults: ['service answer lost'],
    });
    expect(starts).toEqual({ 'service answer lost': 2 });
  });

  it('starts twice if a relay forgets which events it has forwarded', async () => {
    const seen = { ...memorySeen(), reserve: async (uuids: readonly string[]) => uuids.map(() => 'new' as const) };
    const { starts } = await rehearse({ event: 'signup' }, ({ track }) => track('signup'), { relay: { seen } });
    expect(starts).toEqual({
      none: 1,
      'answer lost': 2,
      unavailable: 1,
      offline: 1,
      departure: 1,
      crash: 1,
      'crash in flight': 2,
      'duplicate request': 2,
    });
  });

  it('does not start if the relay rejects its event, and the result names the reason', async () => {
    const accept = catalogue(catalogueOf("interface Events { signup: { plan: 'free' } }"));
    const { unexpected } = await rehearse(UPGRADE, ({ track }) => track('signup', { plan: 'pro' }), {
      faults: ['none', 'crash'],
      relay: { accept },
    });
    expect(unexpected).toEqual([
      'none: started 0 times in place of 1, dropped: signup (rejected)',
      'crash: started 0 times in place of 1, dropped: signup (rejected)',
    ]);
  });

  describe('for a customer whom the relay does not accept', () => {
    const identitySecret = 'x'.repeat(32);
    const calls = ({ identify, track }: Tracker) => {
      identify('customer-4711');
      track('signup', { plan: 'pro' });
    };

    it('is unexpected under every fault, although it starts for the anonymous visitor', async () => {
      const { unexpected, starts } = await rehearse(UPGRADE, calls, { relay: { identitySecret } });
      expect(unexpected).toEqual(FAULTS.map((fault) => `${fault}: started 1 times, dropped: $identify (rejected)`));
      expect(starts).toEqual(Object.fromEntries(FAULTS.map((fault) => [fault, 1])));
    });

    it('is unexpected also if it must not start', async () => {
      const options = { relay: { identitySecret }, faults: ['none'] as const, times: 0 };
      const { unexpected } = await rehearse({ event: 'left' }, calls, options);
      expect(unexpected).toEqual(['none: started 0 times, dropped: $identify (rejected)']);
    });

    it('is unexpected if only the properties are rejected', async () => {
      const { unexpected } = await rehearse(
        UPGRADE,
        ({ identify, track }) => {
          identify('customer-4711', { plan: 'pro' });
          track('signup', { plan: 'pro' });
        },
        { relay: { allowUnsignedUpsert: false } },
      );
      const lost = 'dropped: properties of customer-4711 (rejected)';
      expect(unexpected).toEqual(FAULTS.map((fault) => `${fault}: started 1 times, ${lost}`));
    });

    it.each<[string, (tracker: Tracker) => void, string[]]>([
      ['accepts other properties later', ({ setProperties }) => setProperties({ plan: 'pro' }), FAULTS as string[]],
      ['accepts nothing later', () => {}, FAULTS as string[]],
    ])('is unexpected if the relay rejects a property, and %s', async (_what, later, faults) => {
      const { unexpected } = await rehearse(
        UPGRADE,
        (tracker) => {
          tracker.identify('customer-4711', { seats: 1 });
          later(tracker);
          tracker.track('signup', { plan: 'pro' });
        },
        { relay: { allowedProperties: ['plan'] } },
      );
      const lost = 'dropped: properties of customer-4711 (rejected)';
      expect(unexpected).toEqual(faults.map((fault) => `${fault}: started 1 times, ${lost}`));
    });

    it.each<[string, (tracker: Tracker) => void, string]>([
      ['ignores `identify`', ({ identify }) => identify(4711 as never), 'clew: identify: expected a non-empty string'],
      [
        'cannot write the properties',
        ({ identify }) => identify('customer-4711', { seats: 1n }),
        'clew: Do not know how to serialize a BigInt',
      ],
    ])('is unexpected if the tracker %s', async (_what, call, message) => {
      const { unexpected, runs } = await rehearse(UPGRADE, (tracker) => {
        call(tracker);
        tracker.track('signup', { plan: 'pro' });
      });
      expect(unexpected).toEqual(FAULTS.map((fault) => `${fault}: started 1 times, errors: ${message}`));
      for (const { errors } of runs) expect(errors).toEqual([message]);
    });

    it('is as expected once the calls sign', async () => {
      const signature = await signPrimaryKey(identitySecret, 'customer-4711');
      const { unexpected, runs } = await rehearse(
        UPGRADE,
        ({ identify, track }) => {
          identify('customer-4711', { plan: 'pro' }, { signature });
          track('signup', { plan: 'pro' });
        },
        { relay: { identitySecret } },
      );
      expect(unexpected).toEqual([]);
      for (const { starts } of runs) expect(starts).toMatchObject([{ primaryKey: 'customer-4711' }]);
    });
  });

  it('starts once if a plugin passes the consent on each page, as a consent platform does', async () => {
    const consents: Plugin = ({ consent }) => {
      consent(true);
      return () => {};
    };
    const tracker = { consent: 'required', plugins: [consents] } as const;
    expect((await rehearse({ event: 'left' }, ({ track }) => track('left'), { tracker })).unexpected).toEqual([]);
  });

  it('runs with the plugins of the app', async () => {
    const { unexpected } = await rehearse(UPGRADE, ({ track }) => track('signup', { plan: 'pro' }), {
      faults: ['none'],
      tracker: { beforeSend: () => null, plugins: [] },
    });
    expect(unexpected).toEqual(['none: started 0 times in place of 1, dropped: signup (filtered)']);
  });

  it('is as expected with plugins that need a document, which do nothing in plain Node', async () => {
    const plugins = [pageViews(), clicks(), firstTouch(), engagement(), forms(), sessions(), exclude()];
    const calls = ({ identify, track, page, reset }: Tracker) => {
      identify('customer-4711', { plan: 'pro' });
      page();
      track('signup', { plan: 'pro' });
      reset();
    };
    expect((await rehearse(UPGRADE, calls, { tracker: { plugins } })).unexpected).toEqual([]);
  });

  it('that is not delivered is unexpected, also if it must not start', async () => {
    const { unexpected, runs } = await rehearse(UPGRADE, ({ track }) => track('signup', { plan: 'free' }), {
      times: 0,
      faults: ['none'],
      relay: {
        accept() {
          throw new Error('broken');
        },
      },
    });
    expect(runs[0]?.queued).toBe(1);
    expect(unexpected).toEqual(['none: started 0 times, 1 not delivered']);
  });

  it('starts with the options of a relay and a tracker in production', async () => {
    const { unexpected } = await rehearse(UPGRADE, ({ track }) => track('signup', { plan: 'pro' }), {
      relay: { allowedOrigins: ['https://shop.example', 'https://www.shop.example'] },
      tracker: { storageName: '/clew' },
    });
    expect(unexpected).toEqual([]);
  });

  it('refuses a `forward`, which would take the events in place of the service', async () => {
    const relay = { forward: async () => new Response() };
    await expect(rehearse(UPGRADE, () => {}, { relay } as object)).rejects.toThrow(
      new TypeError('rehearse: expected no relay option `forward`: the rehearsal has a service of its own'),
    );
  });

  it('reports an error of the calls', async () => {
    await expect(
      rehearse(UPGRADE, () => {
        throw new Error('no plan');
      }),
    ).rejects.toThrow('no plan');
  });

  it('refuses calls that wait for requests, because a page that crashes gets no answer', async () => {
    const calls = async (tracker: { trackNow(event: string): Promise<void> }) => tracker.trackNow('signup');
    await expect(rehearse({ event: 'signup' }, calls, { faults: ['crash'] })).rejects.toThrow(
      'must not wait for requests',
    );
    expect(
      (await rehearse({ event: 'signup' }, calls, { faults: ['none', 'answer lost', 'unavailable'] })).unexpected,
    ).toEqual([]);
  });

  it.each([
    ['no calls', () => {}, {}],
    [
      'an event that `beforeSend` drops',
      ({ track }: Tracker) => track('signup', { plan: 'pro' }),
      { beforeSend: () => null },
    ],
    [
      'a visitor without consent',
      ({ track }: Tracker) => track('signup', { plan: 'pro' }),
      { consent: 'required' as const },
    ],
  ])('starts 0 times with %s, and every fault ends', async (_what, calls, tracker) => {
    const { unexpected, starts } = await rehearse(UPGRADE, calls, { times: 0, tracker });
    expect(unexpected).toEqual([]);
    expect(Object.keys(starts)).toEqual(FAULTS);
  });

  it('starts once on the next page if the calls stop the tracker', async () => {
    const calls = ({ track, stop }: Tracker) => {
      track('signup', { plan: 'pro' });
      stop();
    };
    const faults = ['crash', 'crash in flight', 'departure', 'offline'] as const;
    expect((await rehearse(UPGRADE, calls, { faults })).unexpected).toEqual([]);
  });

  it('leaves no timer that keeps a process alive', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    await rehearse(UPGRADE, ({ track }) => track('signup', { plan: 'pro' }));
    await new Promise((resolve) => setImmediate(resolve));
    expect(timers()).toBeLessThanOrEqual(before);
  });

  it.each([
    [{ at: new Date(0) }, 1],
    [{ plan: 'pro', coupon: undefined }, 1],
    [{ at: new Date(1) }, 0],
  ])('compares the filter %j as JSON', async (filter, times) => {
    const calls = ({ track }: Tracker) => track('signup', { plan: 'pro', at: new Date(0) });
    expect((await rehearse({ event: 'signup', filter }, calls, { faults: ['none'], times })).unexpected).toEqual([]);
  });

  it.each([
    ['no journey', undefined, {}],
    ['the name of a journey', 'signup', {}],
    ['a filter as a text', { event: 'signup', filter: 'plan' }, {}],
    ['an unknown fault', UPGRADE, { faults: ['crashed'] }],
    ['the name of a prototype', UPGRADE, { faults: ['toString'] }],
    ['no faults', UPGRADE, { faults: [] }],
    ['a number as a text', UPGRADE, { times: '1' }],
    ['a negative number', UPGRADE, { times: -1 }],
  ])('refuses %s', async (_what, journey, options) => {
    await expect(rehearse(journey as never, () => {}, options as never)).rejects.toThrow(/^rehearse: expected /);
  });

  it('leaves no trace in the globals', async () => {
    const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
    await rehearse(UPGRADE, ({ track }) => track('signup', { plan: 'pro' }), { faults: ['departure'] });
    expect(Object.getOwnPropertyDescriptor(globalThis, 'navigator')).toEqual(before);
  });
});

it('rejected properties count until the same ones are delivered', () => {
  const { note, customers } = createRejected();
  const upsert = (outcome: 'rejected' | 'delivered' | 'failed', primary_key: string, properties = {}) =>
    note({ outcome }, { primary_key, properties });
  upsert('rejected', 'ann', { a: 1, b: 1 });
  upsert('rejected', 'ann', { c: 1 });
  upsert('rejected', 'ben');
  upsert('failed', 'eve', { a: 1 });
  upsert('delivered', 'ann', { a: 1, b: 2 });
  expect(customers()).toEqual(['ann', 'ben']);
  upsert('delivered', 'ben', { a: 1 });
  upsert('delivered', 'ann', { c: 1, d: 1 });
  expect(customers()).toEqual([]);
});

it.each([
  [{ plan: 'pro', more: 1 }, { plan: 'pro' }, true],
  [{ plan: 'pro' }, { plan: 'free' }, false],
  [{ cart: { total: 3, items: [{ sku: 'a' }, { sku: 'b' }] } }, { cart: { items: [{ sku: 'b' }] } }, true],
  [{ cart: { items: [] } }, { cart: { items: [{ sku: 'b' }] } }, false],
  [{ tags: ['a', 'b'] }, { tags: ['b'] }, true],
  [{ plan: null }, { plan: null }, true],
  [{}, { plan: null }, false],
  ['text', {}, false],
  [{}, {}, true],
])('whether %j contains %j is %s, as in the collector', (value, part, answer) => {
  expect(contains(value, part)).toBe(answer);
});
