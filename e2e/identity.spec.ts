import { holdDatabase } from './support/busyDatabase.ts';
import { expect, test, type Visitor } from './support/test.ts';

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('gives a visitor one lower-case v4 UUID for all pages and visits', { tag: '@promise' }, async ({
  context,
  visitor,
  newVisitor,
}) => {
  await visitor.visit();
  const first = await visitor.clew('correlationValue');
  expect(first).toMatch(UUID_V4);
  await visitor.visit();
  expect(await visitor.clew('correlationValue')).toBe(first);
  await visitor.page.close();
  const next = await newVisitor(context);
  await next.visit();
  expect(await next.clew('correlationValue')).toBe(first);
});

test('sends $identify once for a customer, also on later calls, pages and visits', { tag: '@promise' }, async ({
  demo,
  visitor,
}) => {
  await visitor.visit();
  await visitor.clew('track', 'before');
  await visitor.clew('identify', 'ann@example.com');
  await visitor.clew('identify', 'ann@example.com');
  await visitor.clew('track', 'after');
  await expect.poll(() => demo.events('after')).toHaveLength(1);
  await visitor.visit();
  await visitor.clew('identify', 'ann@example.com');
  await visitor.clew('track', 'later');
  await expect.poll(() => demo.events('later')).toHaveLength(1);

  const events = await demo.events();
  expect(events.map(({ event }) => event)).toEqual(['before', '$identify', 'after', 'later']);
  expect(events[1]?.payload).toEqual({ distinct_id: 'ann@example.com' });
  const [ann] = await demo.customers();
  expect(ann).toMatchObject({ primaryKey: 'ann@example.com', correlationValues: [events[0]?.correlationValue] });
  expect(new Set(events.map(({ customerId }) => customerId))).toEqual(new Set([ann?.id]));
});

test('starts a new visitor id when another primary key is identified', { tag: ['@long', '@promise'] }, async ({
  demo,
  visitor,
}) => {
  await visitor.visit();
  await visitor.clew('identify', 'ann@example.com');
  const ann = await visitor.clew('correlationValue');
  await visitor.clew('identify', 'bob@example.com');
  await visitor.clew('track', 'of bob');
  const bob = await visitor.clew('correlationValue');
  expect(bob).not.toBe(ann);
  await expect.poll(() => demo.events('of bob')).toHaveLength(1);
  const customers = await demo.customers();
  expect(customers.map(({ primaryKey, correlationValues }) => [primaryKey, correlationValues])).toEqual([
    ['ann@example.com', [ann]],
    ['bob@example.com', [bob]],
  ]);
});

test('data-visitor-id is the first visitor id only, also after a log-out or a refusal', {
  tag: ['@long', '@promise'],
}, async ({ context, demo, visitor, newVisitor }) => {
  const [given, other] = ['01234567-89ab-4cde-8f01-23456789abcd', '12345678-1234-4234-8234-123456789012'] as const;
  /** Loads the next page, for which the server still has an id. Returns the one in use. */
  const idOn = async (visitorId: string) => {
    await visitor.visit({ visitorId });
    return visitor.clew('correlationValue');
  };
  expect(await idOn(given)).toBe(given);
  await visitor.clew('track', 'of ann');
  await visitor.clew('identify', 'ann@example.com');
  await visitor.clew('flush');
  expect(await idOn(other)).toBe(given);
  await visitor.clew('reset');
  const after = await visitor.clew('correlationValue');
  expect([given, other]).not.toContain(after);
  expect(await idOn(given)).toBe(after);
  const tab = await newVisitor(context);
  await tab.visit({ visitorId: given });
  expect(await tab.clew('correlationValue')).toBe(after);
  await visitor.clew('consent', false);
  await visitor.clew('consent', true);
  expect([given, other, after]).not.toContain(await visitor.clew('correlationValue'));
  const [ann, ...others] = await demo.customers();
  expect(ann).toMatchObject({ primaryKey: 'ann@example.com', correlationValues: [given] });
  expect(others).toEqual([]);
});

test('reset makes later events anonymous in every tab', { tag: '@promise' }, async ({
  demo,
  context,
  visitor,
  newVisitor,
}) => {
  await visitor.visit();
  const other = await newVisitor(context);
  await other.visit();
  await visitor.clew('identify', 'ann@example.com');
  const ann = await visitor.clew('correlationValue');
  await visitor.clew('reset');
  const anonymous = await visitor.clew('correlationValue');
  expect(anonymous).not.toBe(ann);
  await expect.poll(() => other.clew('correlationValue')).toBe(anonymous);
  await other.clew('track', 'after log-out');
  await expect.poll(async () => (await demo.events('after log-out'))[0]?.correlationValue).toBe(anonymous);
});

/** Identifies Ann in one tab. Another tab then blocks the database until `release` is called. */
const annAtBusyDatabase = async (visitor: Visitor, other: Promise<Visitor>) => {
  await visitor.visit();
  await visitor.clew('identify', 'ann@example.com');
  await visitor.clew('flush');
  const ann = await visitor.clew('correlationValue');
  const { visit, page } = await other;
  await visit();
  return { ann, release: await holdDatabase(page) };
};

/** Expects that the next page has another visitor id than Ann's. The page after it has the same id, so the database has it. */
const expectAnother = async (visitor: Visitor, { ann, release }: { ann: unknown; release(): Promise<void> }) => {
  await visitor.visit();
  await release();
  const visitorId = await visitor.clew('correlationValue');
  expect(visitorId).not.toBe(ann);
  await visitor.visit();
  expect(await visitor.clew('correlationValue')).toBe(visitorId);
  return visitorId;
};

for (const [how, ...args] of [['reset'], ['identify', 'bob@example.com']] as const) {
  test(`${how} holds on the next page although the database had not stored it`, { tag: '@promise' }, async ({
    context,
    visitor,
    newVisitor,
  }) => {
    const before = await annAtBusyDatabase(visitor, newVisitor(context));
    await visitor.clew(how, ...args);
    const visitorId = await expectAnother(visitor, before);
    expect(await visitor.page.evaluate(() => localStorage['clew.visitor'])).toBeUndefined();
    await visitor.clew(how, ...args);
    expect((await visitor.clew('correlationValue')) === visitorId).toBe(how === 'identify');
    expect(await visitor.clew('stats')).toMatchObject({ tracked: 0 });
  });
}

test('reset before the database opens holds on the next page after an immediate unload', {
  tag: ['@long', '@promise'],
}, async ({ context, visitor, newVisitor }) => {
  const before = await annAtBusyDatabase(visitor, newVisitor(context));
  await visitor.visit();
  await visitor.clew('reset');
  await expectAnother(visitor, before);
});

test('sets and deletes properties of the identified customer before later events are sent', {
  tag: ['@long', '@promise'],
}, async ({ demo, visitor }) => {
  await visitor.visit();
  await visitor.clew('identify', 'ann@example.com', { name: 'Ann', plan: 'free', trial: true });
  await visitor.clew('setProperties', { plan: 'pro', trial: null });
  await visitor.clew('track', 'upgraded');
  await expect.poll(() => demo.events('upgraded')).toHaveLength(1);
  expect((await demo.customers()).map(({ properties }) => properties)).toEqual([{ name: 'Ann', plan: 'pro' }]);
});

test('$identify and a trigger event in one batch fire the journey for the customer', { tag: '@promise' }, async ({
  demo,
  visitor,
}) => {
  const name = `Journey ${Date.now()}`;
  await demo.createJourney({ name, event: 'bought', filter: { plan: 'pro' } });
  await visitor.visit();
  await visitor.page.evaluate(() => {
    window.clew('identify', 'ann@example.com');
    window.clew('track', 'bought', { plan: 'free' });
    window.clew('track', 'bought', { plan: 'pro', seats: 3 });
  });
  await expect.poll(() => demo.events('bought')).toHaveLength(2);
  const journey = (await demo.journeys()).find((one) => one.name === name);
  expect(journey?.firings.map(({ primaryKey }) => primaryKey)).toEqual(['ann@example.com']);
});

test('properties that are set before identify reach the customer, over pages, a crash and two tabs', {
  tag: ['@long', '@promise'],
}, async ({ demo, visitor, newVisitor, context }) => {
  const propertiesOf = async () =>
    (await demo.customers()).map(({ primaryKey, properties }) => [primaryKey, properties]);
  await visitor.visit();
  await visitor.clew('setProperties', { plan: 'pro', seats: 1 });
  await visitor.visit();
  await visitor.clew('setProperties', { seats: 2, crashed: false });
  const crashed = visitor.page.waitForEvent('crash');
  await visitor.page.goto('chrome://crash').catch(() => {});
  await crashed;
  await visitor.page.close();
  const [first, second] = [await newVisitor(context), await newVisitor(context)];
  for (const [tab, of] of [
    [first, 'first'],
    [second, 'second'],
  ] as const) {
    await tab.visit();
    await tab.clew('setProperties', { [of]: true });
  }
  await Promise.all([first, second].map((tab) => tab.clew('identify', 'ann@example.com')));
  await expect
    .poll(propertiesOf)
    .toEqual([['ann@example.com', { plan: 'pro', seats: 2, crashed: false, first: true, second: true }]]);
  // A log-out ends properties that wait.
  await first.clew('reset');
  await first.clew('setProperties', { of: 'an anonymous visitor' });
  await first.clew('reset');
  await first.clew('identify', 'bob@example.com');
  // This event arrives after any properties that still wait. `flush` would not wait for the other tab, which may still hold the lease.
  await first.clew('track', 'of bob');
  await expect.poll(() => demo.events('of bob')).toHaveLength(1);
  expect((await propertiesOf())[1]).toEqual(['bob@example.com', {}]);
  expect(
    await first.page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('clew.early'))),
  ).toEqual([]);
});
