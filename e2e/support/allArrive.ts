import { expect } from './expect.ts';
import { test } from './test.ts';

/**
 * Waits until `count` events have arrived. If fewer or more arrive, a promise is broken, and no replay excuses that. The test's
 * annotation `verdict` then has the numbers, as those of the faults. Other expectations of the test may fail by chance.
 *
 * @param timeout in ms, less than the test has left
 */
export const allArrive = async (count: number, read: () => Promise<number>, timeout = 15_000) => {
  let seen = 0;
  const look = async () => {
    seen = await read();
    return seen;
  };
  try {
    await expect.poll(look, { timeout }).toBe(count);
  } catch (error) {
    const verdict = { lost: Math.max(count - seen, 0), twice: Math.max(seen - count, 0) };
    test.info().annotations.push({ type: 'verdict', description: JSON.stringify(verdict) });
    throw error;
  }
};
