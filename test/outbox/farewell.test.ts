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
  expect(localStorage).not.toHaveProperty(['clew.settled']);
});

it('reports once what pages have settled, and forgets it', () => {
  const farewell = createFarewell('/clew', createJournal('/clew', 'page'));
  farewell.write(new Set(['a', 'b']), '');
  const report = vi.fn();
  expect([...farewell.settled(report)]).toEqual(['a', 'b']);
  expect(report).toHaveBeenCalledWith(['a', 'b'], ['a', 'b'], []);
  expect([...farewell.settled()]).toEqual([]);
});
