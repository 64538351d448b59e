import { expect, it } from 'vitest';
import { createVisitor, type Running } from './running.ts';

export function journeysSuite(running: () => Running): void {
  const firings = async (name: string) =>
    (await running().journeys()).find((journey) => journey.name === name)?.firings;

  it('fires once for each event of the name, when there is no filter', async () => {
    await running().journey('any', 'cart_viewed');
    const visitor = createVisitor();
    const events = [visitor.event('cart_viewed'), visitor.event('other'), visitor.event('cart_viewed', { n: 1 })];
    const before = Date.now();
    await running().batch(...events);
    const fired = await firings('any');
    expect(fired?.map(({ uuid }) => uuid)).toEqual([events[0]?.uuid, events[2]?.uuid]);
    for (const { at } of fired ?? []) {
      expect(at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(Math.abs(Date.parse(at) - before)).toBeLessThan(60_000);
    }
  });

  it.each<[string, unknown, boolean]>([
    ['the same payload', { plan: 'pro', address: { city: 'Paris' } }, true],
    ['more than the filter asks for', { plan: 'pro', address: { city: 'Paris', zip: 1 }, more: [1] }, true],
    ['another value', { plan: 'free', address: { city: 'Paris' } }, false],
    ['another value inside', { plan: 'pro', address: { city: 'Rome' } }, false],
    ['half of it', { plan: 'pro' }, false],
    ['another type', { plan: ['pro'], address: { city: 'Paris' } }, false],
    ['no payload', undefined, false],
    ['a payload that is no object', 'pro', false],
  ])('compares the filter with the payload: %s', async (_name, payload, fires) => {
    await running().journey('filtered', 'signup', { plan: 'pro', address: { city: 'Paris' } });
    await running().batch(createVisitor().event('signup', payload));
    expect(await firings('filtered')).toHaveLength(fires ? 1 : 0);
  });

  it('identifies and triggers in one batch: the journey fires for the customer', async () => {
    await running().journey('welcome', 'signup', { plan: 'pro' });
    const id = await running().upsert('ada');
    const visitor = createVisitor();
    const signup = visitor.event('signup', { plan: 'pro' });
    await running().batch(visitor.identify('ada'), signup);
    expect(await firings('welcome')).toEqual([
      { uuid: signup.uuid, customerId: id, primaryKey: 'ada', at: expect.any(String) },
    ]);
  });

  it('shows a firing of an anonymous visitor under the customer who is identified later', async () => {
    await running().journey('any', 'e');
    const id = await running().upsert('ada');
    const visitor = createVisitor();
    await running().batch(visitor.event('e'));
    expect(await firings('any')).toMatchObject([{ primaryKey: null }]);
    await running().batch(visitor.identify('ada'));
    expect(await firings('any')).toMatchObject([{ customerId: id, primaryKey: 'ada' }]);
  });

  it('follows the order inside a batch: each event fires for the customer of that moment', async () => {
    await running().journey('any', 'e');
    const visitor = createVisitor();
    await running().batch(visitor.identify('ada'), visitor.event('e'), visitor.identify('bob'), visitor.event('e'));
    expect((await firings('any'))?.map(({ primaryKey }) => primaryKey)).toEqual(['ada', 'bob']);
  });

  it('fires for single events', async () => {
    await running().journey('any', 'e');
    await running().single(createVisitor().event('e'));
    expect(await firings('any')).toHaveLength(1);
  });

  it('never fires for a source other than custom', async () => {
    await running().journey('any', 'e');
    await running().batch({ ...createVisitor().event('e'), source: 'Custom' });
    expect(await firings('any')).toEqual([]);
  });

  it('never fires again for a duplicate, on either endpoint', async () => {
    await running().journey('any', 'e');
    const event = createVisitor().event('e');
    await running().batch(event, event);
    await running().batch(event);
    await running().single(event);
    expect(await firings('any')).toHaveLength(1);
  });

  it('does not fire for events stored before the journey was created', async () => {
    await running().batch(createVisitor().event('e'));
    await running().journey('late', 'e');
    expect(await firings('late')).toEqual([]);
  });

  it('fires every journey that has the event as its trigger', async () => {
    await running().journey('one', 'e');
    await running().journey('two', 'e', {});
    await running().batch(createVisitor().event('e', { a: 1 }));
    expect(await firings('one')).toHaveLength(1);
    expect(await firings('two')).toHaveLength(1);
  });

  it('deletes its firings with the journey, and keeps the events', async () => {
    const { id } = await running().journey('gone', 'e');
    await running().batch(createVisitor().event('e'));
    expect((await running().request('DELETE', `/inspect/journeys/${id}`)).status).toBe(204);
    expect(await running().journeys()).toEqual([]);
    expect(await running().events()).toHaveLength(1);
    expect((await running().request('DELETE', `/inspect/journeys/${id}`)).status).toBe(404);
  });

  it('limits every listing to the newest entries, in order of arrival', async () => {
    for (const name of ['one', 'two', 'three']) await running().journey(name, 'e');
    const visitors = Array.from({ length: 5 }, () => createVisitor());
    await running().batch(...visitors.map((visitor, n) => visitor.event('e', n)));
    const get = async (path: string) => (await running().request('GET', path)).json();
    const { events } = await get('/inspect/events?limit=2');
    expect(events.map((event: { payload: unknown }) => event.payload)).toEqual([3, 4]);
    const { customers } = await get('/inspect/customers?limit=2');
    expect(customers.map((customer: { correlationValues: string[] }) => customer.correlationValues[0])).toEqual(
      visitors.slice(3).map(({ correlationValue }) => correlationValue),
    );
    const { journeys } = await get('/inspect/journeys?limit=2');
    expect(journeys.map((journey: { name: string }) => journey.name)).toEqual(['two', 'three']);
    expect(journeys[0].firings.map((firing: { uuid: string }) => firing.uuid)).toEqual(
      events.map((event: { uuid: string }) => event.uuid),
    );
    expect(journeys[0].count).toBe(5);
  });

  it('deletes all data but journeys and settings', async () => {
    await running().journey('any', 'e');
    const visitor = createVisitor();
    await running().batch(visitor.identify('ada'), visitor.event('e'));
    expect((await running().request('DELETE', '/inspect/data')).status).toBe(204);
    expect(await running().events()).toEqual([]);
    expect(await running().customers()).toEqual([]);
    expect(await running().journeys()).toMatchObject([{ name: 'any', firings: [] }]);
    await running().upsert('ada');
  });
}
