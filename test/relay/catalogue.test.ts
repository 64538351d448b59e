import { describe, expect, it } from 'vitest';
import { catalogue, createRelay } from '../../src/relay.ts';
import { catalogueOf } from '../catalogue/readSource.ts';

const VISITOR = '0f8fad5b-d9cb-469f-a165-70867728950e';
const event = (name: string, payload?: unknown) => ({
  event: name,
  source: 'custom' as const,
  correlationKey: '_id' as const,
  correlationValue: VISITOR,
  ...(payload !== undefined && { payload }),
});

const events = catalogueOf(`interface Events {
  signup: { plan: 'free' | 'pro'; at?: Date; lines?: { count: number }[] };
  searched: { term: string } | undefined;
  filtered: { by: string; language?: string } | { all: true; language?: 1 } | undefined;
  chosen: string | undefined;
  left: undefined;
  paid: { kind: 'card'; last4: string } | { kind: 'bank'; iban: string };
  planted: { tree: Tree };
  rated: { stars: Record<string, number> };
  [name: \`step_\${number}\`]: { name: string };
}
interface Tree { label: string; kids: Tree[] }`);

describe('a relay with a catalogue', () => {
  const accept = catalogue(events);
  it.each([
    ['signup', { plan: 'pro' }, true],
    ['signup', { plan: 'pro', release: '1.4' }, true],
    ['signup', { plan: 'gold' }, 'payload.plan: expected "free" or "pro", got a string'],
    ['signup', { plan: null }, 'payload.plan: expected "free" or "pro", got null'],
    ['signup', {}, 'payload.plan: expected "free" or "pro", got nothing'],
    ['signup', undefined, 'payload: expected an object, got nothing'],
    ['signup', 'pro', 'payload: expected an object, got a string'],
    ['signup', ['pro'], 'payload: expected an object, got a list'],
    ['signup', { plan: 'pro', at: '2026-11-21T09:30:00.000Z' }, true],
    ['signup', { plan: 'pro', at: 'today' }, 'payload.at: expected a date and time (ISO 8601), got a string'],
    ['signup', { plan: 'pro', lines: [{ count: 1 }] }, true],
    [
      'signup',
      { plan: 'pro', lines: [{ count: 1 }, { count: '2' }] },
      'payload.lines[1].count: expected a number, got a string',
    ],
    ['signup', { plan: 'pro', lines: { count: 1 } }, 'payload.lines: expected a list, got an object'],
    ['searched', undefined, true],
    ['searched', { term: 'wool' }, true],
    ['searched', { release: '1.4' }, true],
    ['searched', { term: 1 }, 'payload.term: expected a string, got a number'],
    ['filtered', { language: 'de' }, true],
    ['filtered', { language: 2 }, 'payload.language: expected a string, got a number'],
    ['filtered', { language: 'de', by: 1 }, 'payload.by: expected a string, got a number'],
    ['chosen', { language: 'de' }, true],
    ['left', undefined, true],
    ['left', { release: '1.4' }, true],
    ['paid', { kind: 'bank', iban: 'x' }, true],
    ['paid', { kind: 'bank' }, 'payload.iban: expected a string, got nothing'],
    ['planted', { tree: { label: 'a', kids: [{ label: 'b', kids: [] }] } }, true],
    [
      'planted',
      { tree: { label: 'a', kids: [{ label: 1, kids: [] }] } },
      'payload.tree.kids[0].label: expected a string, got a number',
    ],
    ['rated', { stars: { wool: 5 } }, true],
    ['rated', { stars: { wool: 'five' } }, 'payload.stars.wool: expected a number, got a string'],
    ['step_3', { name: 'pay' }, true],
    ['step_3', {}, 'payload.name: expected a string, got nothing'],
    ['step_x', { name: 'pay' }, 'event: expected one of the catalogue'],
    ['page_view', { url: 'https://shop.example/', utm_source: 'mail' }, true],
    ['$identify', { distinct_id: 'ann' }, true],
  ])('answers %s with %j: %s', (name, payload, answer) => {
    expect(accept(event(name, payload))).toBe(answer);
  });

  it('accepts what one of two catalogues accepts, for pages from before a deployment', () => {
    const now = catalogueOf("interface Events { registered: { plan: 'free' | 'team' } }");
    const both = catalogue(now, events);
    expect([both(event('registered', { plan: 'team' })), both(event('signup', { plan: 'pro' }))]).toEqual([true, true]);
    expect(both(event('signup', { plan: 'team' }))).toBe('payload.plan: expected "free" or "pro", got a string');
    expect(both(event('other'))).toBe('event: expected one of the catalogue');
  });

  it.each([[], [{}], [{ anyOf: [{}] }], [[]]])('refuses %j as a catalogue', (...given) => {
    expect(() => catalogue(...(given as object[]))).toThrow('expected a catalogue');
  });

  it('rejects events one by one, and forwards the others', async () => {
    const forwarded: unknown[] = [];
    const relay = createRelay({
      baseUrl: 'https://service.example',
      apiKey: 'key',
      accept,
      async fetch(_url, init) {
        forwarded.push(...JSON.parse(`${init?.body}`).batch);
        return new Response(null, { status: 201 });
      },
    });
    const ids = ['1', '2', '3'].map((digit) => `${digit.repeat(8)}-9d0a-4b6f-8f1e-2a7c3d4e5f60`);
    const batch = [event('signup', { plan: 'pro' }), event('signup', { plan: 'gold' }), event('other')].map(
      (one, at) => ({
        ...one,
        uuid: ids[at],
        timestamp: new Date().toISOString(),
      }),
    );
    const answer = await relay(
      new Request('https://shop.example/clew/api/events/batch/', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ batch }),
      }),
    );
    expect(await answer.json()).toMatchObject({
      rejected: [
        { uuid: ids[1], reason: 'payload.plan: expected "free" or "pro", got a string' },
        { uuid: ids[2], reason: 'event: expected one of the catalogue' },
      ],
    });
    expect(forwarded).toMatchObject([{ uuid: ids[0], event: 'signup' }]);
    await relay.close();
  });
});
