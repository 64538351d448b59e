// @module-tag promise
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { draftEvent, draftUpsert, isEvent } from '../../src/recorder/event.ts';
import { type Call, finish } from '../../src/visitor/calls.ts';
import { detachLate } from '../../src/visitor/late.ts';
import { type Identity, type Visitor, versionAt } from '../../src/visitor/record.ts';

const SERVICE = '/clew';
const KNOWN = '01234567-89ab-4cde-8f01-23456789abcd';
/** When another page changed the visitor, and now. */
const CHANGED = Date.UTC(2026, 0, 1, 12);
const NOW = CHANGED + 10_000;

const visitorOf = (key?: string, changes: Partial<Visitor> = {}): Visitor => ({
  thread: KNOWN,
  turn: versionAt(CHANGED),
  since: versionAt(CHANGED),
  keys: key ? { [SERVICE]: [key] as Identity } : {},
  pages: 2,
  ...changes,
});
const track = (name: string, at: number): Call => ({ text: draftEvent(at, name) });
const upsert = (plan: string, at: number): Call => ({ text: draftUpsert({ plan }), at });
const reset = (at: number): Call => ({ fresh: crypto.randomUUID(), at });
const identify = (key: string, at: number): Call => ({
  text: draftEvent(at, '$identify', JSON.stringify({ distinct_id: key })),
  fresh: crypto.randomUUID(),
  key,
  at,
});

/** The last visitor, and of each item its name with the visitor: `known`, another id by its number, or a primary key. */
const run = (known: Visitor, calls: readonly Call[]) => {
  const [visitor, items] = finish(known, detachLate(calls, known, undefined, SERVICE)[0], SERVICE);
  const others: unknown[] = [];
  const ownerOf = ({ correlationValue: id, primary_key: key }: Readonly<Record<string, unknown>> = {}) => {
    if (id && id !== KNOWN && !others.includes(id)) others.push(id);
    return id === KNOWN ? 'known' : id ? others.indexOf(id) : (key ?? 'unknown');
  };
  const nameOf = (text: string) => {
    const { event, payload, properties } = JSON.parse(text);
    return isEvent(text) ? (payload?.distinct_id ?? event) : properties.plan;
  };
  return { visitor, items: items.map(([text, owner]) => `${nameOf(text)}: ${ownerOf(owner)}`) };
};

beforeEach(() => void vi.useFakeTimers({ now: NOW }));
afterEach(() => void vi.useRealTimers());

describe('a call that is older than a change by another page', () => {
  it('does not undo it: `identify` and the events after it have an id of their own', () => {
    const at = CHANGED - 1000;
    const { visitor, items } = run(visitorOf('bob'), [identify('ann', at), track('hers', at), upsert('pro', at + 1)]);
    expect(visitor).toEqual(visitorOf('bob'));
    expect(items).toEqual(['ann: 0', 'hers: 0', 'pro: ann']);
  });

  it('ends where the calls are as new as the change', () => {
    const at = CHANGED - 1000;
    const calls = [identify('ann', at), track('hers', at), track('his', CHANGED + 5), upsert('his plan', CHANGED + 6)];
    expect(run(visitorOf('bob'), calls).items).toEqual(['ann: 0', 'hers: 0', 'his: known', 'his plan: bob']);
  });

  it('does not give events of before a log-out to the next customer', () => {
    const at = CHANGED - 1000;
    expect(run(visitorOf(), [track('hers', at), upsert('her plan', at), track('his', NOW)]).items).toEqual([
      'hers: 0',
      'her plan: 0',
      'his: known',
    ]);
  });

  it('belongs to who was identified since, under the same visitor id', () => {
    const ann = visitorOf('ann', { since: undefined });
    expect(run(ann, [track('before', CHANGED - 1000), reset(NOW)]).items).toEqual(['before: known']);
  });

  it('changes nothing as a log-out, and the events after it have a new id', () => {
    const at = CHANGED - 1000;
    const { visitor, items } = run(visitorOf('bob', { since: undefined }), [track('a', at), reset(at), track('b', at)]);
    expect(visitor.keys).toEqual({ [SERVICE]: ['bob'] });
    expect(items).toEqual(['a: known', 'b: 0']);
  });

  it('changes nothing if it identifies the same customer', () => {
    const bob = visitorOf('bob', { since: undefined });
    const { visitor, items } = run(bob, [identify('bob', CHANGED - 1000), track('his', CHANGED - 999)]);
    expect([visitor, items]).toEqual([bob, ['his: known']]);
  });
});

describe('a call that is not late', () => {
  it.each([
    ['made after the change', visitorOf('bob'), NOW],
    ['made at nearly the same moment', visitorOf('bob'), CHANGED - 100],
    [
      'made before a change in the future: the clock was set back',
      visitorOf('bob', { turn: versionAt(NOW + 9e6) }),
      NOW,
    ],
  ])('changes the visitor if it was %s', (_what, known, at) => {
    const { visitor, items } = run(known, [identify('ann', at), track('hers', at)]);
    expect(visitor.keys).toEqual({ [SERVICE]: ['ann', undefined] });
    expect(items).toEqual(['ann: 0', 'hers: 0']);
  });
});

it('follows a call that came late by itself', () => {
  const at = CHANGED - 1000;
  const known = visitorOf('bob');
  const [first, past] = detachLate([identify('ann', at)], known, undefined, SERVICE);
  const [second] = detachLate([track('hers', at)], known, past, SERVICE);
  expect(second[0]?.finished?.[1]).toEqual({ correlationValue: past?.thread });
  expect(first[0]?.finished?.[1]).toMatchObject({ correlationValue: past?.thread });
  expect(detachLate([track('his', NOW)], known, past, SERVICE)[1]).toBeUndefined();
});
