// @module-tag promise
import { expect, it } from 'vitest';
import { createWaiters } from '../../src/visitor/waiters.ts';

it('gives the visitor id once to all who wait', async () => {
  const { wait, give } = createWaiters();
  const waiting = [wait(), wait()];
  give('one');
  const later = wait();
  give('two');
  expect(await Promise.all([...waiting, later])).toEqual(['one', 'one', 'two']);
});

it('rejects once for all who wait, with the cause', async () => {
  const { wait, give, end } = createWaiters();
  const waiting = [wait(), wait()];
  end('the visitor has refused');
  const later = wait();
  give('one');
  for (const one of waiting) await expect(one).rejects.toThrow('clew: correlationValue: the visitor has refused');
  expect(await later).toBe('one');
});
