// @module-tag promise
import { describe, expect, it } from 'vitest';
import type { DropReason } from '../../src/api/signals.ts';
import { createIntake } from '../../src/outbox/intake.ts';
import type { ItemText } from '../../src/recorder/event.ts';
import { draftEvent } from '../../src/recorder/event.ts';
import { AT, eventText, idOf, VISITOR_ID } from '../recorder/items.ts';
import { createMemoryStore } from './memoryStore.ts';
import { createOutbox } from './outbox.ts';

/** The intake of a page whose queue has room for one event, and has it. */
const createFull = () => {
  const queue = createOutbox({ store: createMemoryStore(), limits: { maxQueuedEvents: 1 } });
  queue.add(eventText('first'));
  const dropped: [ItemText, DropReason][] = [];
  const intake = createIntake({
    queue,
    number: (text) => text,
    begin() {},
    onIdentify() {},
    drop(...drop) {
      dropped.push(drop);
      return () => {};
    },
    onAdded() {},
    fail() {},
  });
  return { queue, intake, dropped };
};

describe('a full queue', () => {
  it('takes in an event that a crashed page has left in its journal', () => {
    const { queue, intake, dropped } = createFull();
    const left = eventText('left');
    intake.take([], false, [left]);
    expect(queue.has(idOf(left))).toBe(true);
    expect(dropped).toEqual([]);
  });

  it.each([
    ['takes in an event of this page that another page has taken in already', true],
    ['drops a new event of this page', false],
  ])('%s', (_what, isAdopted) => {
    const { queue, intake, dropped } = createFull();
    const draft = draftEvent(AT, 'own');
    intake.take([[draft, { correlationValue: VISITOR_ID }]], isAdopted);
    expect(queue.has(idOf(draft))).toBe(isAdopted);
    expect(dropped.map(([, reason]) => reason)).toEqual(isAdopted ? [] : ['full']);
  });
});
