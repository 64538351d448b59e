import { expect, it, vi } from 'vitest';
import type { ListedEvent } from '../../demo/collector/listings.ts';
import { createArrivals } from '../../demo/pages/arrivals.js';

const event = (uuid: string, correlationValue = 'v'): ListedEvent => ({
  uuid,
  timestamp: '2026-01-01T00:00:00.000Z',
  event: 'e',
  source: 'custom',
  correlationKey: '_id',
  correlationValue,
  payload: null,
  customerId: 'c',
  primaryKey: null,
});
const eventsTo = (count: number) => Array.from({ length: count }, (_, index) => event(`${index}`));
const listOf = (events: ListedEvent[]) => vi.fn(async (limit: number) => events.slice(-limit));

it('the first list of arrivals reaches back to all sought events', async () => {
  const list = listOf(eventsTo(1000));
  const arrivals = createArrivals(list, 10, ['970', '995']);
  expect(await arrivals.update()).toHaveLength(10);
  expect(arrivals.find('970')?.uuid).toBe('970');
  expect(list.mock.calls).toEqual([[10], [40]]);
});

it('arrivals end their search where the list ends', async () => {
  const events = eventsTo(30);
  const list = listOf(events);
  const arrivals = createArrivals(list, 10, ['not there yet']);
  await arrivals.update();
  expect(list.mock.calls).toEqual([[10], [40]]);
  events.push(event('not there yet'));
  await arrivals.update();
  expect(arrivals.find('not there yet')).toBeDefined();
});

it('an arrival has the name that its customer has now', async () => {
  const events = [event('a')];
  const arrivals = createArrivals(listOf(events), 10);
  await arrivals.update();
  events[0] = { ...event('a'), primaryKey: 'ada' };
  await arrivals.update();
  expect(arrivals.find('a')?.primaryKey).toBe('ada');
});

it('arrivals that seek nothing request few events, and then all new ones', async () => {
  const events = eventsTo(1000);
  const list = listOf(events);
  const arrivals = createArrivals(list, 10);
  await arrivals.update();
  expect(list.mock.calls).toEqual([[10]]);
  events.push(...Array.from({ length: 50 }, (_, index) => event(`new ${index}`, 'w')));
  await arrivals.update();
  expect(arrivals.count(['w'])).toBe(50);
});
