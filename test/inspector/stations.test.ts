import { describe, expect, it } from 'vitest';
import type { SeenEvent } from '../../src/inspector/model.ts';
import { endOf, stationsOf } from '../../src/inspector/stations.ts';

const seen = (more: Partial<SeenEvent>): SeenEvent => ({ uuid: 'a', requests: [], isTracked: true, ...more });
const shown = (more: Partial<SeenEvent>) =>
  stationsOf(seen(more)).map(({ label, at, after, isReached, missing }) => [
    label,
    at === undefined ? missing : [at, after],
    isReached,
  ]);

describe('the steps of an event', () => {
  it('have the time since the previous step', () => {
    expect(shown({ trackedAt: 10, storedAt: 14, sentAt: 100, endedAt: 130, end: 'delivered' })).toEqual([
      ['Tracked', [10, undefined], true],
      ['Stored', [14, 4], true],
      ['Sent', [100, 86], true],
      ['Confirmed', [130, 30], true],
    ]);
  });

  it('that are still to come are not reached', () => {
    expect(shown({ trackedAt: 10, storedAt: 14 })).toEqual([
      ['Tracked', [10, undefined], true],
      ['Stored', [14, 4], true],
      ['Sent', 'not yet', false],
      ['Confirmed', 'not yet', false],
    ]);
  });

  it('end with the drop, and name the steps that the event never reached', () => {
    expect(shown({ trackedAt: 10, endedAt: 11, end: 'full' })).toEqual([
      ['Tracked', [10, undefined], true],
      ['Stored', 'never', true],
      ['Sent', 'never', true],
      ['Dropped', [11, 1], true],
    ]);
  });

  it('show that another tab has sent an event confirmed without a request here', () => {
    expect(shown({ trackedAt: 10, storedAt: 14, endedAt: 90, end: 'delivered' })[2]).toEqual([
      'Sent',
      'by another tab',
      true,
    ]);
  });

  it('are unknown before the inspector was opened', () => {
    const missing = stationsOf(seen({ isTracked: false, endedAt: 90, end: 'delivered' })).map((one) => one.missing);
    expect(missing.slice(0, 3)).toEqual(['unknown', 'unknown', 'unknown']);
  });
});

describe('the end of an event', () => {
  it.each([
    [{}, 'queued'],
    [{ requests: [1, 2] }, 'queued, sent 2×'],
    [{ end: 'delivered', requests: [1] }, 'confirmed'],
    [{ end: 'delivered', requests: [1, 2, 3] }, 'confirmed, sent 3×'],
    [{ end: 'delivered', isCounted: true, requests: [1] }, 'confirmed by another page'],
    [{ end: 'too-large' }, 'dropped: too-large'],
  ] as const)('of %j is %j', (more, text) => {
    expect(endOf(seen(more as Partial<SeenEvent>))).toBe(text);
  });
});
