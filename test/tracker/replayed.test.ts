// @module-tag promise
import { expect, it } from 'vitest';
import { normaliseOptions } from '../../src/api/options.ts';
import { draftEvent, stamp } from '../../src/recorder/event.ts';
import type { Made } from '../../src/recorder/recorder.ts';
import { createMemoryStore, createTestTransport } from '../../src/testing.ts';
import { startTracker } from '../../src/tracker.ts';

const ID = '01234567-89ab-4cde-8f01-23456789abcd';
const VISITOR = '11234567-89ab-4cde-8f01-23456789abcd';

it('an event that two pages replay from the stub is counted once', async () => {
  const store = createMemoryStore();
  const service = createTestTransport();
  // Another page has replayed the same call, and has left.
  const text = stamp(draftEvent(Date.now() - 1000, 'early', undefined, ID), { correlationValue: VISITOR });
  (store.local as Record<string, string>)[`clew.page /clew ${VISITOR}`] = JSON.stringify({
    at: Date.now() - 500,
    isLeft: true,
    texts: [text],
    visitor: { thread: VISITOR, turn: 0, keys: {}, pages: 1 },
  });
  let replayed: Made | undefined = { at: Date.now() - 1000, id: ID };
  const tracker = startTracker(
    normaliseOptions({ baseUrl: '/clew', store, transport: service.transport, compress: false }),
    [],
    () => replayed,
  );
  tracker.track('early');
  replayed = undefined;
  await tracker.flush();
  await tracker.flush();
  tracker.stop();
  expect(service.events()).toHaveLength(1);
  expect(tracker.stats()).toEqual({ tracked: 1, delivered: 1, queued: 0, dropped: {} });
});
