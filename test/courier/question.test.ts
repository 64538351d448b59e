// @module-tag promise
import { expect, it } from 'vitest';
import { QUESTION, receiptOf } from '../../src/courier/question.ts';
import type { Answer } from '../../src/courier/transport.ts';
import type { Handed } from '../../src/outbox/receipts.ts';
import { draftEvent } from '../../src/recorder/event.ts';

const [x, y]: Handed[] = ['x', 'y'].map((id) => ({ id, at: 0, ids: [] }));
const BATCH = { ...QUESTION, items: [draftEvent(0, 'a')] };

it.each<[string, typeof QUESTION, Answer, unknown]>([
  [
    'a relay that has one',
    BATCH,
    { outcome: 'delivered', handovers: ['taken', 'unknown'] },
    { taken: [x], others: [y] },
  ],
  [
    'a relay that refuses the events',
    BATCH,
    { outcome: 'rejected', handovers: ['taken', 'unknown'] },
    { taken: [x], others: [y] },
  ],
  ['an older relay', BATCH, { outcome: 'delivered' }, { taken: [], others: [x, y] }],
  ['an older relay that refuses a question alone', QUESTION, { outcome: 'rejected' }, { taken: [], others: [x, y] }],
  ['an older relay that refuses events', BATCH, { outcome: 'rejected' }, undefined],
  ['a relay that fails', QUESTION, { outcome: 'failed' }, undefined],
])('a tab judges two handovers by the answer of %s', (_who, batch, answer, receipt) => {
  expect(receiptOf([x, y] as Handed[], batch, answer)).toEqual(receipt);
});
