import { describe, expect, it } from 'vitest';
import { roll, type Second, WINDOW } from '../../src/inspector/rate.ts';

describe('the rate per second', () => {
  it('has an entry for each second, also without events', () => {
    const seconds: Second[] = [];
    roll(seconds, 1000, 0).tracked++;
    roll(seconds, 1999, 0).tracked++;
    roll(seconds, 4000, 3).tracked++;
    expect(seconds).toEqual([
      { at: 1, tracked: 2, queued: 0 },
      { at: 2, tracked: 0, queued: 0 },
      { at: 3, tracked: 0, queued: 0 },
      { at: 4, tracked: 1, queued: 3 },
    ]);
  });

  it('keeps only the last seconds, however long nothing happened', () => {
    const seconds: Second[] = [];
    roll(seconds, 1000, 2);
    roll(seconds, 1e9, 5);
    expect(seconds).toHaveLength(WINDOW);
    expect(seconds.at(-1)).toEqual({ at: 1e6, tracked: 0, queued: 5 });
    expect(seconds[0]).toEqual({ at: 1e6 - WINDOW + 1, tracked: 0, queued: 2 });
  });

  it('waits after the clock has jumped back', () => {
    const seconds: Second[] = [];
    roll(seconds, 9000, 0);
    roll(seconds, 3000, 0).tracked++;
    expect(seconds).toEqual([{ at: 9, tracked: 1, queued: 0 }]);
  });
});
