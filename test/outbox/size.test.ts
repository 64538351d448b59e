// @module-tag promise
import { expect, it } from 'vitest';
import { eventOf } from '../recorder/items.ts';
import { createMemoryStore } from './memoryStore.ts';
import { createOutbox } from './outbox.ts';

it.each([
  [100, 1],
  [10_000, 5],
  [1_000_000, 5],
])('a queue of at most %i events counts an event of 5,000 characters as %i', (maxQueuedEvents, weight) => {
  const queue = createOutbox({ store: createMemoryStore(), limits: { maxQueuedEvents } });
  expect(queue.weigh(eventOf(5000))).toBe(weight);
});
