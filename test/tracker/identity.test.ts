// @module-tag promise
import { describe, expect, it } from 'vitest';
import { createMemoryStore, start } from './page.ts';

describe('identify', () => {
  it('sends $identify once for each visitor id and key, also on later pages', async () => {
    const store = createMemoryStore();
    const first = start({ baseUrl: '/clew', store });
    first.tracker.identify('ann');
    first.tracker.identify('ann');
    await first.tracker.flush();
    first.tracker.identify('ann');
    await first.tracker.flush();
    expect(first.names()).toEqual(['$identify']);
    first.tracker.stop();
    const second = start({ baseUrl: '/clew', store });
    second.tracker.identify('ann');
    second.tracker.track('seen');
    await second.tracker.flush();
    expect(second.names()).toEqual(['seen']);
    expect(second.events()[0]?.correlationValue).toBe(first.events()[0]?.correlationValue);
  });

  it('keeps the visitor id of the anonymous events', async () => {
    const { tracker, events } = start();
    tracker.track('before');
    tracker.identify('ann');
    tracker.track('after');
    await tracker.flush();
    const visitors = events().map(({ correlationValue }) => correlationValue);
    expect(visitors).toEqual(Array(3).fill(visitors[0]));
    expect(events('$identify')).toMatchObject([{ payload: { distinct_id: 'ann' } }]);
  });

  it('with a second key starts a new visitor id, so two customers never share one', async () => {
    const { tracker, events } = start();
    tracker.identify('ann');
    tracker.track('of ann');
    tracker.identify('ben');
    tracker.track('of ben');
    await tracker.flush();
    const [ann, ofAnn, ben, ofBen] = events();
    expect([ann?.payload, ben?.payload]).toEqual([{ distinct_id: 'ann' }, { distinct_id: 'ben' }]);
    expect(ofAnn?.correlationValue).toBe(ann?.correlationValue);
    expect(ofBen?.correlationValue).toBe(ben?.correlationValue);
    expect(ben?.correlationValue).not.toBe(ann?.correlationValue);
    expect(await tracker.correlationValue()).toBe(ben?.correlationValue);
  });

  it('with the first key again starts a third visitor id', async () => {
    const { tracker, events } = start();
    for (const key of ['ann', 'ben', 'ann']) tracker.identify(key);
    await tracker.flush();
    expect(new Set(events().map(({ correlationValue }) => correlationValue)).size).toBe(3);
  });

  it('sends the signature to a relay, and a new one with the next properties', async () => {
    const { tracker, events, upserts } = start();
    tracker.identify('ann', undefined, { signature: 'one' });
    tracker.identify('ann', undefined, { signature: 'one' });
    tracker.identify('ann', { plan: 'pro' });
    tracker.identify('ann', { plan: 'free' }, { signature: 'two' });
    await tracker.flush();
    expect(events()).toMatchObject([{ event: '$identify', signature: 'one' }]);
    expect(upserts().map((upsert) => (upsert as { signature?: string }).signature)).toEqual(['one', 'two']);
  });

  it.each([
    ['an empty key', [''], 'identify: expected a non-empty string'],
    ['no key', [undefined], 'identify: expected a non-empty string'],
    ['a number as key', [7], 'identify: expected a non-empty string'],
    ['a number as signature', ['ann', {}, { signature: 7 }], 'identify: signature: expected a string'],
    ['a signature without its name', ['ann', {}, 'proof'], 'identify: options: expected an object'],
  ])('with %s is refused with an error', async (_what, call, error) => {
    const { tracker, errors, events, upserts } = start();
    tracker.identify(...(call as [string]));
    await tracker.flush();
    expect(errors).toEqual([`clew: ${error}`]);
    expect([...events(), ...upserts()]).toEqual([]);
  });

  it.each([0, false, '', 'plan'])(
    'with %j as properties still identifies, and reports an error',
    async (properties) => {
      const { tracker, errors, events, upserts } = start();
      tracker.identify('ann', properties as never);
      await tracker.flush();
      expect(errors).toEqual(['clew: setProperties: expected an object']);
      expect(events().map(({ event }) => event)).toEqual(['$identify']);
      expect(upserts()).toEqual([]);
    },
  );

  it('within a listener: a call in a listener of `change` belongs to the customer before', async () => {
    const { tracker, events } = start();
    tracker.identify('ann');
    await tracker.flush();
    const ann = await tracker.correlationValue();
    const changes: unknown[] = [];
    tracker.on('change', ({ visitorId }) => {
      changes.push(visitorId);
      tracker.track('bye');
    });
    tracker.on('error', () => tracker.identify('bob'));
    tracker.setProperties('a fault' as never);
    tracker.track('hello');
    await tracker.flush();
    const [bye, bob, hello] = events().slice(1);
    expect([bye?.event, bob?.event, hello?.event]).toEqual(['bye', '$identify', 'hello']);
    expect(bye?.correlationValue).toBe(ann);
    expect(changes).toEqual([ann]);
    expect(bob?.correlationValue).not.toBe(ann);
    expect(hello?.correlationValue).toBe(bob?.correlationValue);
  });

  it('in a listener of an error of `context` leaves the event to the customer before', async () => {
    let isBroken = false;
    const context = () => {
      if (isBroken) throw new Error('context');
      return {};
    };
    const { tracker, events } = start({ context });
    tracker.identify('ann');
    tracker.on('error', () => {
      isBroken = false;
      tracker.identify('bob');
    });
    isBroken = true;
    tracker.track('of ann');
    tracker.track('of bob');
    await tracker.flush();
    const [ann, ofAnn, bob, ofBob] = events();
    expect([ofAnn?.event, bob?.event, ofBob?.event]).toEqual(['of ann', '$identify', 'of bob']);
    expect(ofAnn?.correlationValue).toBe(ann?.correlationValue);
    expect(ofBob?.correlationValue).toBe(bob?.correlationValue);
    expect(bob?.correlationValue).not.toBe(ann?.correlationValue);
  });

  it('sets the properties of the customer, after $identify', async () => {
    const { tracker, requests, upserts } = start();
    tracker.identify('ann', { plan: 'pro' }, { signature: 'proof' });
    await tracker.flush();
    expect(upserts()).toEqual([{ primary_key: 'ann', properties: { plan: 'pro' }, signature: 'proof' }]);
    expect(requests.map(({ url }) => url.replace(/^\/[^/]+/, ''))).toEqual([
      '/api/events/batch/',
      '/api/customers/upsert',
    ]);
  });
});

describe('reset', () => {
  it('starts a new, anonymous visitor id for later events', async () => {
    const { tracker, events, errors, upserts } = start();
    tracker.identify('ann');
    tracker.track('of ann');
    tracker.reset();
    tracker.track('of nobody');
    tracker.setProperties({ plan: 'pro' });
    await tracker.flush();
    const [ann, ofAnn, anonymous] = events();
    expect(ofAnn?.correlationValue).toBe(ann?.correlationValue);
    expect(anonymous?.correlationValue).not.toBe(ann?.correlationValue);
    expect(await tracker.correlationValue()).toBe(anonymous?.correlationValue);
    expect(upserts()).toEqual([]);
    expect(errors).toEqual([]);
  });

  it('lets the next customer identify under the new visitor id', async () => {
    const { tracker, events } = start();
    tracker.identify('ann');
    tracker.reset();
    const anonymous = await tracker.correlationValue();
    tracker.identify('ben');
    await tracker.flush();
    expect(events('$identify').map(({ correlationValue }) => correlationValue)[1]).toBe(anonymous);
  });

  it('holds for later pages', async () => {
    const store = createMemoryStore();
    const first = start({ baseUrl: '/clew', store });
    first.tracker.identify('ann');
    first.tracker.reset();
    const anonymous = await first.tracker.correlationValue();
    await first.tracker.flush();
    first.tracker.stop();
    const second = start({ baseUrl: '/clew', store });
    expect(await second.tracker.correlationValue()).toBe(anonymous);
    second.tracker.identify('ann');
    await second.tracker.flush();
    expect(second.names()).toEqual(['$identify']);
  });
});

describe('setProperties', () => {
  it('sets properties of the customer who is identified at the time of the call', async () => {
    const { tracker, upserts } = start();
    tracker.identify('ann');
    tracker.setProperties({ plan: 'pro' });
    tracker.identify('ben');
    tracker.setProperties({ plan: 'free' });
    await tracker.flush();
    expect(upserts()).toEqual([
      { primary_key: 'ann', properties: { plan: 'pro' } },
      { primary_key: 'ben', properties: { plan: 'free' } },
    ]);
  });

  it('of a value that is no object is refused with an error', async () => {
    const { tracker, upserts, errors } = start();
    tracker.identify('ann');
    for (const properties of ['pro', 7, [1], undefined]) tracker.setProperties(properties as never);
    await tracker.flush();
    expect(upserts()).toEqual([]);
    expect(errors).toEqual(Array(4).fill('clew: setProperties: expected an object'));
  });

  it('on a later page sets properties of the customer who was identified before', async () => {
    const store = createMemoryStore();
    const first = start({ baseUrl: '/clew', store });
    first.tracker.identify('ann', undefined, { signature: 'proof' });
    await first.tracker.flush();
    first.tracker.stop();
    const second = start({ baseUrl: '/clew', store });
    second.tracker.setProperties({ plan: 'pro' });
    await second.tracker.flush();
    expect(second.upserts()).toEqual([{ primary_key: 'ann', properties: { plan: 'pro' }, signature: 'proof' }]);
  });
});
