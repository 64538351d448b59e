// @module-tag promise
import { expect, it } from 'vitest';
import { createLedger } from '../../src/api/ledger.ts';
import { createSignals, type Signals } from '../../src/api/signals.ts';
import { draftEvent } from '../../src/recorder/event.ts';
import { AT, eventText, idOf, times, upsertText } from '../recorder/items.ts';

const open = () => {
  const [on, emit] = createSignals(false);
  const delivered: Signals['delivered'][] = [];
  const dropped: Signals['dropped'][] = [];
  on('delivered', (value) => delivered.push(value));
  on('dropped', (value) => dropped.push(value));
  const disowned: (string | undefined)[][] = [];
  const booked: [texts: readonly string[], reason: string][] = [];
  const ledger = createLedger(
    emit,
    60_000,
    (...identity) => disowned.push(identity),
    (...drop) => booked.push(drop),
  );
  return { ...ledger, delivered, dropped, disowned, booked };
};

it('stats() adds up: tracked = delivered + queued + all of dropped', () => {
  const { counts, begin, end } = open();
  const texts = times(10, () => eventText());
  for (const _ of texts) begin();
  expect(counts).toEqual({ tracked: 10, delivered: 0, queued: 10, dropped: {} });
  end(texts.slice(0, 4));
  end(texts.slice(4, 6), 'rejected');
  end(texts.slice(6, 7), 'full');
  end(texts.slice(7, 8), 'rejected');
  expect(counts).toEqual({ tracked: 10, delivered: 4, queued: 2, dropped: { rejected: 3, full: 1 } });
});

it('signals report delivered and dropped events with the reason', () => {
  const { begin, end, delivered, dropped } = open();
  const [a, b, c] = [eventText('a', { x: 1 }), eventText('b'), eventText('c')];
  for (let n = 0; n < 3; n++) begin();
  end([a, b]);
  end([c], 'too-large');
  expect(delivered).toMatchObject([{ events: [{ uuid: idOf(a), event: 'a', payload: { x: 1 } }, { event: 'b' }] }]);
  expect(delivered[0]).not.toHaveProperty('reason');
  expect(dropped).toMatchObject([{ events: [{ event: 'c' }], reason: 'too-large' }]);
});

it('signals report an event of the store that is no JSON without its fields', () => {
  const { begin, end, dropped, disowned } = open();
  begin();
  end([`${eventText('$identify').slice(0, -1)} broken`], 'too-large');
  expect(dropped).toEqual([{ events: [{}], reason: 'too-large' }]);
  expect(disowned).toEqual([]);
});

it('signals report an event that got no visitor id', () => {
  const { begin, end, dropped } = open();
  begin();
  end([draftEvent(AT, 'early')], 'consent');
  expect(dropped).toMatchObject([{ events: [{ event: 'early' }], reason: 'consent' }]);
  expect(dropped[0]?.events[0]).not.toHaveProperty('correlationValue');
});

it('stats() counts no upserts, and they alone emit no signal', () => {
  const { counts, begin, end, delivered, dropped } = open();
  begin();
  end([upsertText(), eventText('a')]);
  end([upsertText()]);
  end([upsertText()], 'rejected');
  end([], 'full');
  expect(counts).toEqual({ tracked: 1, delivered: 1, queued: 0, dropped: {} });
  expect(delivered).toMatchObject([{ events: [{ event: 'a' }] }]);
  expect(dropped).toEqual([]);
});

it('a $identify that is dropped is disowned, unless the visitor has refused', () => {
  const { begin, end, disowned } = open();
  const identify = eventText('$identify', { distinct_id: 'ann' });
  const { correlationValue } = JSON.parse(identify);
  for (let n = 0; n < 3; n++) begin();
  end([identify], 'consent');
  end([identify]);
  expect(disowned).toEqual([]);
  end([identify, eventText('a')], 'rejected');
  expect(disowned).toEqual([[correlationValue, 'ann', undefined]]);
});

it('settled events are delivered, or dropped as rejected', () => {
  const { begin, settle, delivered, dropped } = open();
  const [a, b] = [eventText('a'), eventText('b')];
  for (let n = 0; n < 2; n++) begin();
  settle([a, b], [idOf(b)]);
  expect(delivered).toMatchObject([{ events: [{ event: 'a' }] }]);
  expect(dropped).toMatchObject([{ events: [{ event: 'b' }] }]);
});

it('a rejected event has expired only if another tab reports it, and it is older than `maxAge`', () => {
  const { begin, settle, dropped } = open();
  const [a, b] = [draftEvent(Date.now() - 61_000, 'a'), draftEvent(Date.now() - 61_000, 'b')];
  for (let n = 0; n < 2; n++) begin();
  settle([a], [idOf(a)]);
  settle([b], [idOf(b)], true);
  expect(dropped).toMatchObject([{ reason: 'rejected' }, { reason: 'expired' }]);
});

it('lost events of other pages count as tracked and dropped, and other texts do not', () => {
  const { lose, counts, dropped } = open();
  const report = lose([eventText('a'), upsertText(), `${eventText('b').slice(0, -3)}`], 'expired');
  expect(counts).toEqual({ tracked: 1, delivered: 0, queued: 0, dropped: { expired: 1 } });
  expect(dropped).toEqual([]);
  report();
  expect(dropped).toMatchObject([{ events: [{ event: 'a' }], reason: 'expired' }]);
});
