import { expect, it } from 'vitest';
import { createRandom } from '../../sim/world/random.ts';
import { createLane, createScheduler, type Owner } from '../../sim/world/scheduler.ts';

const run = async (seed: number, arrange: (scheduler: ReturnType<typeof createScheduler>, done: string[]) => void) => {
  const scheduler = createScheduler(createRandom(seed));
  const done: string[] = [];
  arrange(scheduler, done);
  while (await scheduler.step(1000));
  return done;
};

it('runs tasks in the order of their times', async () => {
  const done = await run(1, (scheduler, done) => {
    scheduler.after(5, 'late', () => done.push(`late at ${scheduler.now()}`));
    scheduler.after(2, 'early', () => done.push(`early at ${scheduler.now()}`));
  });
  expect(done).toEqual(['early at 2', 'late at 5']);
});

it('lets the seed decide between tasks that are due at once', async () => {
  const orderOf = (seed: number) =>
    run(seed, (scheduler, done) => {
      for (const name of ['a', 'b', 'c']) scheduler.after(1, name, () => done.push(name));
    });
  expect(await orderOf(7)).toEqual(await orderOf(7));
  const orders = await Promise.all(Array.from({ length: 40 }, async (_, seed) => (await orderOf(seed)).join('')));
  expect(new Set(orders).size).toBe(6);
});

it('keeps the order within a lane, whatever the delays', async () => {
  for (let seed = 0; seed < 20; seed++) {
    const done = await run(seed, (scheduler, done) => {
      const lane = createLane();
      for (const [name, delay] of [
        ['a', 3],
        ['b', 1],
        ['c', 1],
      ] as const)
        scheduler.after(delay, name, () => done.push(name), { lane });
    });
    expect(done).toEqual(['a', 'b', 'c']);
  }
});

it('drains microtasks between two tasks', async () => {
  const done = await run(1, (scheduler, done) => {
    scheduler.after(1, 'first', () => {
      Promise.resolve()
        .then(() => {})
        .then(() => done.push('microtask'));
    });
    scheduler.after(2, 'second', () => done.push('second'));
  });
  expect(done).toEqual(['microtask', 'second']);
});

it('holds the tasks of a suspended owner and drops those of a closed one', async () => {
  const owner: Owner = { name: 'page', state: 'suspended', held: [] };
  const gone: Owner = { name: 'other', state: 'gone', held: [] };
  const done = await run(1, (scheduler, done) => {
    scheduler.after(1, 'held', () => done.push('held'), { owner });
    scheduler.after(1, 'dropped', () => done.push('dropped'), { owner: gone });
    scheduler.after(5, 'resume', () => {
      owner.state = 'running';
      scheduler.resume(owner);
      done.push('resumed');
    });
  });
  expect(done).toEqual(['resumed', 'held']);
});
