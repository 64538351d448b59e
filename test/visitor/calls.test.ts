// @module-tag promise
import { describe, expect, it } from 'vitest';
import { draftEvent, draftUpsert, idOf } from '../../src/recorder/event.ts';
import { type Call, finish } from '../../src/visitor/calls.ts';
import { type Identity, markOf, type Visitor } from '../../src/visitor/record.ts';

const SERVICE = '/clew';
const FROM = '01234567-89ab-4cde-8f01-23456789abcd';
/** Visitor ids that calls begin. */
const idOfCall = (index: number) => `00000000-0000-4000-8000-${`${index}`.padStart(12, '0')}`;

const visitorOf = (identity?: Identity, changes: Partial<Visitor> = {}): Visitor => ({
  thread: FROM,
  turn: 3,
  keys: identity ? { [SERVICE]: identity } : {},
  pages: 2,
  ...changes,
});

const track = (name: string): Call => ({ text: draftEvent(0, name) });
const upsert = (properties = { plan: 'pro' }): Call => ({ text: draftUpsert(properties) });
const reset = (id: number): Call => ({ fresh: idOfCall(id) });
const identify = (key: string, id: number, signature?: string): Call => ({
  text: draftEvent(0, '$identify', JSON.stringify({ distinct_id: key })),
  fresh: idOfCall(id),
  key,
  signature,
});

/** The last visitor, and each finished item: its name or the plan that it sets, and its visitor id or primary key. */
const run = (from: Visitor, calls: readonly Call[], isSure?: boolean) => {
  const [visitor, items] = finish(from, calls, SERVICE, isSure);
  return {
    visitor,
    items: items.map(([text, known]) => {
      const { event, properties, payload } = JSON.parse(text);
      const name = event === '$identify' ? `$identify ${payload.distinct_id}` : (event ?? properties.plan);
      return [name, known];
    }),
  };
};

describe('identify', () => {
  it('of an anonymous visitor keeps the visitor id and sends $identify', () => {
    const { visitor, items } = run(visitorOf(), [identify('ann', 1)]);
    expect(visitor).toEqual(visitorOf(['ann', undefined]));
    expect(items).toEqual([['$identify ann', { correlationValue: FROM, signature: undefined }]]);
  });

  it('of the same customer changes nothing', () => {
    const ann = visitorOf(['ann', 'proof']);
    const { visitor, items } = run(ann, [identify('ann', 1), identify('ann', 2, 'proof')]);
    expect(visitor).toBe(ann);
    expect(items).toEqual([]);
  });

  it('of another customer starts the visitor id of the call, without any earlier key', () => {
    const ann = visitorOf(['ann', 'proof'], { keys: { [SERVICE]: ['ann', 'proof'], '/other': ['ann'] } });
    const { visitor, items } = run(ann, [identify('bob', 1, 'his')]);
    expect(visitor).toEqual(visitorOf(['bob', 'his'], { thread: idOfCall(1), turn: 4, since: 4 }));
    expect(items).toEqual([['$identify bob', { correlationValue: idOfCall(1), signature: 'his' }]]);
  });

  it('of the first customer again starts a third visitor id', () => {
    const { items } = run(visitorOf(), [identify('ann', 1), identify('bob', 2), identify('ann', 3)]);
    expect(items.map(([, known]) => known?.correlationValue)).toEqual([FROM, idOfCall(2), idOfCall(3)]);
  });

  it('keeps the identity of the same visitor id at another service', () => {
    const known = visitorOf(undefined, { keys: { '/other': ['bob'] } });
    const { visitor } = run(known, [identify('ann', 1)]);
    expect(visitor).toEqual({ ...known, keys: { '/other': ['bob'], [SERVICE]: ['ann', undefined] } });
  });

  it('with a new signature keeps it for the properties after it, without $identify', () => {
    const { visitor, items } = run(visitorOf(['ann', 'old']), [identify('ann', 1, 'new'), upsert()]);
    expect(visitor).toEqual(visitorOf(['ann', 'new']));
    expect(items).toEqual([['pro', { primary_key: 'ann', signature: 'new' }]]);
  });

  it('of a customer whose mark is known keeps the visitor id, without $identify', () => {
    const { visitor, items } = run(visitorOf([markOf('ann')]), [identify('ann', 1, 'proof')]);
    expect(visitor).toEqual(visitorOf(['ann', 'proof']));
    expect(items).toEqual([]);
  });

  it('of a customer whose mark is known, but perhaps not the service, sends $identify once', () => {
    const { visitor, items } = run(visitorOf([markOf('ann'), undefined, true]), [
      identify('ann', 1),
      identify('ann', 2),
    ]);
    expect(visitor).toEqual(visitorOf(['ann', undefined]));
    expect(items).toEqual([['$identify ann', { correlationValue: FROM, signature: undefined }]]);
  });

  it.each<[string, Identity]>([
    ['of another customer', [markOf('ann')]],
    ['of an unknown customer', [0]],
    ['of a customer at another site', [1]],
    ['of another customer, unsent', [markOf('ann'), undefined, true]],
  ])('of a customer starts a new visitor id if the mark is that %s', (_what, identity) => {
    const { visitor, items } = run(visitorOf(identity), [identify('bob', 1)]);
    expect(visitor.thread).toBe(idOfCall(1));
    expect(items).toEqual([['$identify bob', { correlationValue: idOfCall(1), signature: undefined }]]);
  });
});

describe('a dropped $identify', () => {
  const dropped = (key: string, id = FROM): Call => ({ dropped: id, key });

  it('is sent again by the next identify, under the same visitor id, and only once', () => {
    const { visitor, items } = run(visitorOf(['ann', 'bad']), [
      dropped('ann'),
      identify('ann', 1, 'good'),
      identify('ann', 2, 'good'),
    ]);
    expect(visitor).toEqual(visitorOf(['ann', 'good']));
    expect(items).toEqual([['$identify ann', { correlationValue: FROM, signature: 'good' }]]);
  });

  it('still counts for identify of another customer: it gets a new visitor id', () => {
    const { items } = run(visitorOf(['ann']), [dropped('ann'), identify('bob', 1)]);
    expect(items).toEqual([['$identify bob', { correlationValue: idOfCall(1), signature: undefined }]]);
  });

  it.each([
    ['another visitor id', dropped('ann', idOfCall(7))],
    ['another customer', dropped('bob')],
  ])('of %s changes nothing', (_what, held) => {
    const ann = visitorOf(['ann', 'proof']);
    expect(run(ann, [held]).visitor).toBe(ann);
    expect(run(ann, [held, identify('ann', 1)]).items).toEqual([]);
  });

  it('of an anonymous visitor identifies no customer', () => {
    const nobody = visitorOf();
    expect(run(nobody, [dropped('ann')]).visitor).toBe(nobody);
  });
});

describe('reset', () => {
  it('starts the visitor id of the call, without keys of any service', () => {
    const ann = visitorOf(undefined, { keys: { [SERVICE]: ['ann'], '/other': ['ann'] } });
    expect(run(ann, [reset(1)])).toEqual({
      visitor: visitorOf(undefined, { thread: idOfCall(1), turn: 4, since: 4 }),
      items: [],
    });
  });

  it('lets the next customer have the new visitor id', () => {
    const { items } = run(visitorOf(['ann']), [reset(1), identify('bob', 2)]);
    expect(items).toEqual([['$identify bob', { correlationValue: idOfCall(1), signature: undefined }]]);
  });
});

describe('events and properties', () => {
  it('belong to the visitor at their place among the changes, and stay in order', () => {
    const { visitor, items } = run(visitorOf(), [
      track('a'),
      identify('ann', 1),
      track('b'),
      upsert({ plan: 'hers' }),
      identify('bob', 2),
      track('c'),
      upsert({ plan: 'his' }),
      reset(3),
      track('d'),
    ]);
    expect(items).toEqual([
      ['a', { correlationValue: FROM }],
      ['$identify ann', { correlationValue: FROM, signature: undefined }],
      ['b', { correlationValue: FROM }],
      ['hers', { primary_key: 'ann', signature: undefined }],
      ['$identify bob', { correlationValue: idOfCall(2), signature: undefined }],
      ['c', { correlationValue: idOfCall(2) }],
      ['his', { primary_key: 'bob', signature: undefined }],
      ['d', { correlationValue: idOfCall(3) }],
    ]);
    expect(visitor).toEqual(visitorOf(undefined, { thread: idOfCall(3), turn: 5, since: 5 }));
  });

  it('have the same result on every page that finishes them', () => {
    const calls = [track('a'), identify('ann', 1), identify('bob', 2), upsert(), reset(3), track('b')];
    expect(finish(visitorOf(), calls, SERVICE)).toEqual(
      finish(visitorOf(), JSON.parse(JSON.stringify(calls)), SERVICE),
    );
  });

  it('keep the text of their call', () => {
    const calls = [track('a'), identify('ann', 1), upsert()];
    const [, items] = finish(visitorOf(), calls, SERVICE);
    expect(items.map(([text]) => idOf(text))).toEqual(calls.map(({ text }) => idOf(text ?? '')));
  });

  const waiting = ['pro', { correlationValue: FROM }];
  const anns = ['pro', { primary_key: 'ann', signature: 'proof' }];

  it('of an anonymous visitor, or one whose primary key is unknown, wait under the visitor id', () => {
    expect(run(visitorOf(), [upsert()]).items).toEqual([waiting]);
    expect(run(visitorOf([markOf('ann')]), [upsert(), track('a')]).items[0]).toEqual(waiting);
  });

  it('follow the $identify that they have waited for, before properties of later calls', () => {
    const calls = [upsert(), track('a'), identify('ann', 1, 'proof'), upsert({ plan: 'free' })];
    const { items } = run(visitorOf(), calls);
    expect(items.map(([name]) => name)).toEqual(['a', '$identify ann', 'pro', 'free']);
    expect(items[2]).toEqual(anns);
  });

  it('go to the customer whose primary key the page learns, and to no other customer', () => {
    const ann = visitorOf([markOf('ann')]);
    expect(run(ann, [upsert(), identify('ann', 1, 'proof')]).items).toEqual([anns]);
    expect(run(ann, [upsert(), { visitor: visitorOf(['ann', 'proof'], { turn: 4 }) }]).items).toEqual([anns]);
    expect(run(ann, [upsert(), identify('bob', 1)]).items.slice(1)).toEqual([waiting]);
  });

  it('of before a log-out wait under the former visitor id, and go to no customer', () => {
    expect(run(visitorOf(), [upsert(), reset(1), identify('bob', 2)]).items.slice(1)).toEqual([waiting]);
  });

  it('of another visitor id than that of the call do not go to its customer', () => {
    const call = { ...upsert(), owner: idOfCall(7) };
    expect(run(visitorOf(['ann']), [call]).items).toEqual([['pro', { correlationValue: idOfCall(7) }]]);
  });

  it('know the customer and the signature after identify', () => {
    const { items } = run(visitorOf(), [identify('ann', 1, 'proof'), upsert()]);
    expect(items[1]).toEqual(['pro', { primary_key: 'ann', signature: 'proof' }]);
  });
});

describe('a page that has not asked the database', () => {
  it('identifies an anonymous visitor', () => {
    const { items } = run(visitorOf(), [track('a'), identify('ann', 1), track('b')], false);
    expect(items).toEqual([
      ['a', { correlationValue: FROM }],
      ['$identify ann', { correlationValue: FROM, signature: undefined }],
      ['b', { correlationValue: FROM }],
    ]);
  });

  it('goes on after reset, since the visitor id is new', () => {
    const { items } = run(visitorOf(), [reset(1), identify('ann', 2), upsert(), track('a')], false);
    expect(items).toEqual([
      ['$identify ann', { correlationValue: idOfCall(1), signature: undefined }],
      ['pro', { primary_key: 'ann', signature: undefined }],
      ['a', { correlationValue: idOfCall(1) }],
    ]);
  });

  it('goes on at identify of a customer other than the known one, since the visitor id is new', () => {
    const { items } = run(visitorOf([markOf('ann'), undefined, true]), [identify('bob', 1), track('a')], false);
    expect(items).toEqual([
      ['$identify bob', { correlationValue: idOfCall(1), signature: undefined }],
      ['a', { correlationValue: idOfCall(1) }],
    ]);
  });

  it('goes on at identify of the known customer', () => {
    const { items } = run(visitorOf([markOf('ann'), undefined, true]), [identify('ann', 1), upsert()], false);
    expect(items).toEqual([
      ['$identify ann', { correlationValue: FROM, signature: undefined }],
      ['pro', { primary_key: 'ann', signature: undefined }],
    ]);
  });

  it('stops at setProperties of an unknown customer, since a later upsert may not overtake it', () => {
    const from = visitorOf([markOf('ann'), undefined, true]);
    const { visitor, items } = run(from, [track('a'), upsert(), identify('ann', 1), upsert({ plan: 'free' })], false);
    expect(visitor).toBe(from);
    expect(items).toEqual([['a', { correlationValue: FROM }]]);
    expect(finish(from, [track('a'), upsert(), track('b')], SERVICE, false)[2]).toBe(1);
  });
});

describe('a call that knows a visitor', () => {
  const later = visitorOf(['bob'], { thread: idOfCall(9), turn: 4, pages: 6 });

  it('changes an earlier visitor, for the calls after it', () => {
    const { visitor, items } = run(visitorOf(['ann']), [track('a'), { visitor: later }, track('b'), upsert()]);
    expect(visitor).toEqual(later);
    expect(items).toEqual([
      ['a', { correlationValue: FROM }],
      ['b', { correlationValue: idOfCall(9) }],
      ['pro', { primary_key: 'bob', signature: undefined }],
    ]);
  });

  it('does not change a visitor who is as late, or later', () => {
    const ann = visitorOf(['ann'], { turn: 4, pages: 8 });
    expect(run(ann, [{ visitor: later }]).visitor).toEqual(ann);
  });

  it('adds the keys of other services to the same visitor id', () => {
    const { visitor } = run(visitorOf(['ann']), [{ visitor: visitorOf(undefined, { keys: { '/other': ['ann'] } }) }]);
    expect(visitor.keys).toEqual({ [SERVICE]: ['ann'], '/other': ['ann'] });
  });
});
