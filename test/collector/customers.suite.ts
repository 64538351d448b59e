import { describe, expect, it } from 'vitest';
import { createVisitor, type Running } from './running.ts';

export function customersSuite(running: () => Running): void {
  describe('upsert', () => upserting(running));
  describe('$identify', () => identifying(running));
}

function upserting(running: () => Running) {
  it('creates an empty customer from a primary key alone and returns its id', async () => {
    const id = await running().upsert('ada@example.com');
    expect(await running().customers()).toEqual([
      { id, primaryKey: 'ada@example.com', properties: {}, correlationValues: [] },
    ]);
  });

  it('adds and changes properties and leaves the others alone', async () => {
    const id = await running().upsert('ada', { name: 'Ada', plan: 'free', age: 36 });
    expect(await running().upsert('ada', { plan: 'pro', tags: ['a'] })).toBe(id);
    expect(await running().upsert('ada')).toBe(id);
    expect((await running().customers())[0]?.properties).toEqual({ name: 'Ada', plan: 'pro', age: 36, tags: ['a'] });
  });

  it('deletes a property that is null, at the top level only', async () => {
    await running().upsert('ada', { plan: 'pro', name: 'Ada', never: null });
    expect((await running().customers())[0]?.properties).toEqual({ plan: 'pro', name: 'Ada' });
    await running().upsert('ada', { plan: null, unknown: null, address: { street: null, lines: [null] }, empty: '' });
    expect((await running().customers())[0]?.properties).toEqual({
      name: 'Ada',
      address: { street: null, lines: [null] },
      empty: '',
    });
  });

  it('replaces an object as a whole without merging', async () => {
    await running().upsert('ada', { address: { city: 'London', zip: 'W1' } });
    await running().upsert('ada', { address: { city: 'Paris' } });
    expect((await running().customers())[0]?.properties).toEqual({ address: { city: 'Paris' } });
  });

  it('creates one customer from ten upserts of a new key at once, and loses no property', async () => {
    const ids = await Promise.all(Array.from({ length: 10 }, (_, n) => running().upsert('new', { [`p${n}`]: n })));
    expect(new Set(ids).size).toBe(1);
    const customers = await running().customers();
    expect(customers).toHaveLength(1);
    expect(Object.keys(customers[0]?.properties ?? {})).toHaveLength(10);
  });

  it('is refused until a primary key attribute is chosen, and the error names the setting', async () => {
    await running().request('PUT', '/inspect/primary-key', { attribute: null });
    const response = await running().request('POST', '/api/customers/upsert', { primary_key: 'ada' });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      error: expect.stringMatching(/^no primary key attribute is chosen: choose one .*\/inspect\/primary-key/),
    });
    expect(await running().customers()).toEqual([]);
    await running().request('PUT', '/inspect/primary-key', { attribute: 'user_id' });
    await running().upsert('ada');
    expect(await running().customers()).toHaveLength(1);
  });

  it('distinguishes keys that differ in case or blanks', async () => {
    for (const key of ['ada', 'Ada', ' ada', 'ada ']) await running().upsert(key);
    expect(await running().customers()).toHaveLength(4);
  });
}

function identifying(running: () => Running) {
  it('shows an unknown visitor as an anonymous customer', async () => {
    const visitor = createVisitor();
    await running().batch(visitor.event('e'));
    const [customer] = await running().customers();
    expect(customer).toMatchObject({ primaryKey: null, properties: {}, correlationValues: [visitor.correlationValue] });
    expect((await running().events())[0]?.customerId).toBe(customer?.id);
  });

  it('gives the anonymous record the primary key when no customer has it, earlier events included', async () => {
    const visitor = createVisitor();
    await running().batch(visitor.event('before'));
    const [anonymous] = await running().customers();
    await running().batch(visitor.identify('ada'));
    await running().batch(visitor.event('after'));
    expect(await running().customers()).toEqual([{ ...anonymous, primaryKey: 'ada' }]);
    expect((await running().events()).map(({ customerId }) => customerId)).toEqual(Array(3).fill(anonymous?.id));
  });

  it('creates the customer when $identify is the first event of a visitor', async () => {
    const visitor = createVisitor();
    await running().batch(visitor.identify('ada'));
    expect(await running().customers()).toMatchObject([
      { primaryKey: 'ada', correlationValues: [visitor.correlationValue] },
    ]);
  });

  it('merges the anonymous record into the customer who has the key, with all its events', async () => {
    const id = await running().upsert('ada', { plan: 'pro' });
    const visitor = createVisitor();
    await running().batch(visitor.event('before'), visitor.identify('ada'), visitor.event('after'));
    expect(await running().customers()).toEqual([
      { id, primaryKey: 'ada', properties: { plan: 'pro' }, correlationValues: [visitor.correlationValue] },
    ]);
    expect((await running().events()).map(({ customerId }) => customerId)).toEqual([id, id, id]);
  });

  it('keeps the properties of both records in a merge, and prefers those of the known customer', async () => {
    const visitor = createVisitor();
    await running().batch(visitor.event('e'));
    await running().database.query('update customers set properties = $1::jsonb', ['{"plan":"free","seen":1}']);
    await running().upsert('ada', { plan: 'pro', name: 'Ada' });
    await running().batch(visitor.identify('ada'));
    const customers = await running().customers();
    expect(customers.map(({ properties }) => properties)).toEqual([{ plan: 'pro', name: 'Ada', seen: 1 }]);
  });

  it('ties several visitor ids to one customer', async () => {
    const [phone, laptop] = [createVisitor(), createVisitor()];
    await running().batch(phone.identify('ada'), laptop.event('e'), laptop.identify('ada'));
    const customers = await running().customers();
    expect(customers.map(({ correlationValues }) => correlationValues)).toEqual([
      [phone.correlationValue, laptop.correlationValue],
    ]);
  });

  it('changes nothing when the same customer is identified again', async () => {
    const visitor = createVisitor();
    await running().batch(visitor.identify('ada'));
    const before = await running().customers();
    await running().batch(visitor.identify('ada'), visitor.identify('ada'));
    expect(await running().customers()).toEqual(before);
  });

  it.each([
    ['known', true],
    ['new', false],
  ])('moves the visitor id to another customer who is %s, and keeps the first customer', async (_name, isKnown) => {
    const visitor = createVisitor();
    await running().upsert('ada', { name: 'Ada' });
    await running().batch(visitor.identify('ada'), visitor.event('e'));
    if (isKnown) await running().upsert('bob', { name: 'Bob' });
    await running().batch(visitor.identify('bob'), visitor.event('e'));
    const customers = await running().customers();
    expect(customers).toMatchObject([
      { primaryKey: 'ada', properties: { name: 'Ada' }, correlationValues: [] },
      { primaryKey: 'bob', correlationValues: [visitor.correlationValue] },
    ]);
    expect(new Set((await running().events()).map(({ customerId }) => customerId))).toEqual(
      new Set([customers[1]?.id]),
    );
  });

  it('does not identify again when an old $identify is a duplicate', async () => {
    const visitor = createVisitor();
    const ada = visitor.identify('ada');
    await running().batch(ada);
    await running().batch(visitor.identify('bob'));
    await running().batch(ada, ada);
    const tied = (await running().customers()).filter(({ correlationValues }) => correlationValues.length > 0);
    expect(tied.map(({ primaryKey }) => primaryKey)).toEqual(['bob']);
  });

  it('identifies each visitor id of a batch as its own customer', async () => {
    const [one, two] = [createVisitor(), createVisitor()];
    await running().batch(one.event('e'), two.event('e'), one.identify('ada'), two.identify('bob'), one.event('e'));
    const customers = await running().customers();
    expect(customers.map(({ primaryKey, correlationValues }) => [primaryKey, correlationValues])).toEqual([
      ['ada', [one.correlationValue]],
      ['bob', [two.correlationValue]],
    ]);
  });

  it('stores $identify on the single-event endpoint as an ordinary event', async () => {
    const visitor = createVisitor();
    await running().single(visitor.identify('ada'));
    await running().single({ ...visitor.identify('ada'), payload: 'anything goes' });
    expect((await running().events()).map(({ event }) => event)).toEqual(['$identify', '$identify']);
    expect(await running().customers()).toMatchObject([{ primaryKey: null }]);
  });

  it('creates one customer when ten visitor ids are identified as it while upserts run', async () => {
    const visitors = Array.from({ length: 10 }, () => createVisitor());
    await Promise.all(
      visitors.flatMap((visitor) => [
        running().batch(visitor.event('e'), visitor.identify('ada')),
        running().upsert('ada', { seen: true }),
      ]),
    );
    const customers = await running().customers();
    expect(customers).toHaveLength(1);
    expect(customers[0]).toMatchObject({ primaryKey: 'ada', properties: { seen: true } });
    expect(customers[0]?.correlationValues).toHaveLength(10);
  });
}
