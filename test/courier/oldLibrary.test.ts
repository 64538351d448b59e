// @module-tag promise
import { expect, it, vi } from 'vitest';
import { ask } from '../../src/courier/ask.ts';
import { joinUpserts } from '../../src/courier/cut.ts';
import { QUESTION, withQuestions } from '../../src/courier/question.ts';
import { draftUpsert, stamp } from '../../src/recorder/event.ts';
import { makeListsText } from '../support/oldLibrary.ts';

it('requests and answers keep their lists on a page whose library makes texts of lists', async () => {
  const upserts = [['red'], ['blue']].map((colors) => stamp(draftUpsert({ colors }) as string, { primary_key: 'ann' }));
  makeListsText();
  const { body } = withQuestions(QUESTION, 'id', [{ id: 'asked', at: Date.now(), ids: [] }], [1, 2]);
  expect(JSON.parse(body).handovers).toEqual([['asked', expect.any(Number)]]);
  const answer = { outcome: 'delivered', rejected: [{ uuid: 'a', reason: 'why' }], handovers: ['taken'] };
  expect(await ask(async () => answer)).toEqual(answer);
  expect(JSON.parse(joinUpserts(upserts, 1e4)?.body ?? '').properties).toEqual({ colors: ['blue'] });
});

it.each([
  [async () => ({ outcome: 'delivered' }), 'delivered'],
  [() => Promise.reject('cut'), 'failed'],
])('a request is answered on a page whose promises have no `finally`: %#', async (send, outcome) => {
  const replaced = vi.spyOn(Promise.prototype, 'finally').mockImplementation(() => {
    throw new TypeError('finally is not a function');
  });
  const answer = ask(send);
  replaced.mockRestore();
  expect(await answer).toMatchObject({ outcome });
});
