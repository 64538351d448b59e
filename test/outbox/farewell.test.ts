// @module-tag promise
import { beforeEach, expect, it, vi } from 'vitest';
import { createFarewell } from '../../src/outbox/farewell.ts';
import { createJournal } from '../../src/outbox/journal.ts';
import { eventText, idOf } from '../recorder/items.ts';

beforeEach(() => void vi.stubGlobal('localStorage', {}));

it('names settled events of pages whose journal is still there', () => {
  const [journaled, stored] = [eventText('journaled'), eventText('stored')];
  createJournal('/clew', 'gone').keep([journaled]);
  const farewell = createFarewell('/clew', createJournal('/clew', 'page'));
  farewell.settle([
    ['gone', journaled],
    ['other', stored],
  ]);
  expect([...farewell.settled()]).toEqual([idOf(journaled)]);
});

it('names nothing of a page of another service, or if an earlier version reports no events', () => {
  const text = eventText();
  createJournal('/other', 'gone').keep([text]);
  const farewell = createFarewell('/clew', createJournal('/clew', 'page'));
  farewell.settle([['gone', text]]);
  farewell.settle();
  expect(Object.keys(localStorage).filter((key) => key.startsWith('clew.settled'))).toEqual([]);
});

it('reports what pages have settled to all that start, until the tab with the lease takes over', () => {
  const farewell = createFarewell('/clew', createJournal('/clew', 'page'));
  farewell.write(new Set(['a', 'b']), '');
  const receive = vi.fn();
  expect([...farewell.settled(receive)]).toEqual(['a', 'b']);
  farewell.takeOver(receive);
  expect(receive.mock.calls).toEqual(Array(2).fill([['a', 'b'], ['a', 'b'], []]));
  expect([...farewell.settled()]).toEqual([]);
  farewell.takeOver(receive);
  expect(receive).toHaveBeenCalledTimes(2);
});

it('keeps what pages have settled as long as a journal is there, which may have it, too', () => {
  const gone = createJournal('/clew', 'gone');
  const text = eventText();
  gone.keep([text]);
  const farewell = createFarewell('/clew', createJournal('/clew', 'page'));
  farewell.write(new Set(['a']), '');
  farewell.takeOver(() => {});
  expect([...farewell.settled()]).toEqual(['a']);
  gone.drop([idOf(text)]);
  farewell.takeOver(() => {});
  expect([...farewell.settled()]).toEqual([]);
});

it('leaves alone what pages have settled of another service', () => {
  createFarewell('/other', createJournal('/other', 'gone')).write(new Set(['a']), '');
  const farewell = createFarewell('/clew', createJournal('/clew', 'page'));
  farewell.takeOver(() => {});
  expect([...farewell.settled()]).toEqual([]);
  expect([...createFarewell('/other', createJournal('/other', 'page')).settled()]).toEqual(['a']);
});

it('of a page that leaves again and again does not push out what other pages have noted', () => {
  const farewell = createFarewell('/clew', createJournal('/clew', 'page'));
  farewell.write(new Set(['theirs']), 'their lease');
  const mine = new Set(Array.from({ length: 300 }, (_, n) => `mine ${n}`));
  for (let n = 0; n < 9; n++) farewell.write(mine, 'my lease');
  expect([farewell.hasLeft('their lease'), farewell.settled().has('theirs')]).toEqual([true, true]);
  expect(farewell.settled().size).toBe(301);
  expect(farewell.mayHaveProperties()).toBe(true);
  farewell.takeOver(() => {});
  expect(farewell.mayHaveProperties()).toBe(false);
});
