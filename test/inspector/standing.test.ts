import { describe, expect, it } from 'vitest';
import { newModel } from '../../src/inspector/model.ts';
import { consentOf, earlierIn, heldIn, senderOf } from '../../src/inspector/standing.ts';
import { count, update } from '../../src/inspector/update.ts';

const NOW = 10_000;

describe('the sending tab', () => {
  const senderAt = (by: string, until: number, fails = 0) => {
    const model = newModel(0);
    update(model, 0, 'trace', { step: 'link', tab: 'me', by, until, fails, okAt: 0 });
    return senderOf(model, NOW);
  };

  it('is unknown before the first trace', () => {
    expect(senderOf(newModel(0), NOW)).toEqual({ kind: 'unknown' });
  });

  it('is this tab or another one while the lease lasts', () => {
    expect(senderAt('me', NOW + 1)).toEqual({ kind: 'this', tab: 'me', until: NOW + 1 });
    expect(senderAt('you', NOW + 1)).toEqual({ kind: 'other', tab: 'you', until: NOW + 1 });
  });

  it('is none when the lease has expired or was released', () => {
    expect(senderAt('you', NOW)).toEqual({ kind: 'nobody' });
    expect(senderAt('', 0)).toEqual({ kind: 'nobody' });
  });

  it('is none during the back-off after failures', () => {
    expect(senderAt('', NOW + 500, 2)).toEqual({ kind: 'waiting', until: NOW + 500, fails: 2 });
  });
});

describe('queued events', () => {
  it('are in memory only until they are stored, listed by name', () => {
    const model = newModel(0);
    const track = (uuid: string, event: string) =>
      update(model, 0, 'trace', { step: 'tracked', event: { uuid, event } });
    track('a', 'viewed');
    track('b', 'viewed');
    track('c', 'signup');
    track('d', 'signup');
    update(model, 0, 'trace', { step: 'stored', uuids: ['a', 'b', 'c'] });
    expect(heldIn(model)).toEqual({
      memory: [['signup', 1]],
      stored: [
        ['viewed', 2],
        ['signup', 1],
      ],
      inMemory: 1,
      inStore: 3,
      unknown: 0,
    });
  });

  it('have an unknown place if they were tracked before the inspector opened', () => {
    const model = newModel(0);
    count(model, 0, { tracked: 5, delivered: 2, queued: 3, dropped: {} });
    expect(heldIn(model)).toMatchObject({ inMemory: 0, inStore: 0, unknown: 3 });
  });
});

it('events from before the inspector opened are still queued until the totals have their ends', () => {
  const model = newModel(0);
  const sum = (delivered: number, queued: number) =>
    count(model, 0, { tracked: delivered + queued, delivered, queued, dropped: {} });
  sum(2, 3);
  expect(earlierIn(model)).toBe(3);
  update(model, 0, 'trace', { step: 'tracked', event: { uuid: 'a', event: 'since' } });
  sum(4, 2);
  expect(earlierIn(model)).toBe(1);
  sum(5, 1);
  expect(earlierIn(model)).toBe(0);
});

describe('consent', () => {
  it('is granted once there is a visitor, and refused once there is none again', () => {
    const model = newModel(0);
    expect(consentOf(model)).toBe('unknown');
    update(model, 0, 'trace', { step: 'visitor', visitorId: 't' });
    expect(consentOf(model)).toBe('granted');
    update(model, 0, 'trace', { step: 'visitor', visitorId: undefined });
    expect(consentOf(model)).toBe('refused');
  });

  it('is refused if an event is dropped for it, also without a trace', () => {
    const model = newModel(0);
    update(model, 0, 'dropped', { events: [{ uuid: 'a' }], reason: 'consent' });
    expect(consentOf(model)).toBe('refused');
    update(model, 0, 'trace', { step: 'visitor', visitorId: 't' });
    update(model, 0, 'dropped', { events: [{ uuid: 'b' }], reason: 'consent' });
    expect(consentOf(model)).toBe('granted');
  });

  it('is unknown if events were dropped for it before the inspector opened', () => {
    const model = newModel(0);
    count(model, 0, { tracked: 2, delivered: 0, queued: 0, dropped: { consent: 2 } });
    expect(consentOf(model)).toBe('unknown');
  });
});
