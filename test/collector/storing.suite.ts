import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Database, Query } from '../../demo/collector/database.ts';
import { storeEvents } from '../../demo/collector/ingest.ts';
import { type CheckedEvent, checkBatch } from '../../demo/collector/validation.ts';
import { createVisitor, type Running } from './running.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

/** A database that counts the statements it is given. */
function counting(database: Database): Database & { statements: string[] } {
  const statements: string[] = [];
  const counted =
    (query: Query): Query =>
    (sql, params) => {
      statements.push(sql);
      return query(sql, params);
    };
  return {
    statements,
    query: counted(database.query),
    transaction: (work) => database.transaction((query) => work(counted(query))),
    close: database.close,
  };
}

const checked = (...batch: object[]): CheckedEvent[] => {
  const result = checkBatch(JSON.parse(JSON.stringify({ batch })));
  if ('error' in result) throw new Error(result.error);
  return result.value;
};

export function storingSuite(running: () => Running): void {
  describe('stored data', () => keeping(running));
  describe('duplicates', () => repeats(running));
  describe('order', () => order(running));
  describe('concurrent requests', () => concurrency(running));
  describe('unusual data', () => strangeData(running));
}

function keeping(running: () => Running) {
  it('keeps every field of an event', async () => {
    const event = createVisitor().event('signup', { plan: 'pro', nested: { list: [1, 'two', null] } });
    await running().batch(event);
    const [stored] = await running().events();
    expect(stored).toEqual({ ...event, customerId: expect.stringMatching(/^[0-9a-f-]{36}$/), primaryKey: null });
  });

  it('keeps any kind of payload', async () => {
    const payloads = ['text', 12.5, true, null, [1, [2]], {}, 0, '', false];
    const visitor = createVisitor();
    await running().batch(...payloads.map((payload) => visitor.event('e', payload)));
    expect((await running().events()).map((event) => event.payload)).toEqual(payloads);
  });

  it('shows a missing payload as null', async () => {
    await running().batch(createVisitor().event('bare'));
    expect((await running().events())[0]?.payload).toBeNull();
  });

  it('gives an event without a uuid or timestamp new ones', async () => {
    const { uuid: _uuid, timestamp: _timestamp, ...event } = createVisitor().event('e');
    const before = Date.now();
    await running().batch(event, event);
    const [first, second] = await running().events();
    expect(first?.uuid).not.toBe(second?.uuid);
    expect(Date.parse(first?.timestamp ?? '')).toBeGreaterThanOrEqual(before);
    expect(Date.parse(first?.timestamp ?? '')).toBeLessThanOrEqual(Date.now());
  });

  it.each([
    ['2026-01-31T12:00:00.123Z', '2026-01-31T12:00:00.123Z'],
    ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31T12:00:00.1239999Z', '2026-01-31T12:00:00.123Z'],
    ['2026-01-31T12:00:00,5+02:00', '2026-01-31T10:00:00.500Z'],
    ['2024-02-29T23:30-01:00', '2024-03-01T00:30:00.000Z'],
    ['0001-01-01T00:00:00.000Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('shows the timestamp %s as %s', async (timestamp, shown) => {
    await running().batch({ ...createVisitor().event('e'), timestamp });
    expect((await running().events())[0]?.timestamp).toBe(shown);
  });

  it('gives a single event its time of arrival', async () => {
    const before = Date.now();
    await running().single({ ...createVisitor().event('e'), timestamp: '1999-01-01T00:00:00.000Z' });
    expect(Date.parse((await running().events())[0]?.timestamp ?? '')).toBeGreaterThanOrEqual(before);
  });

  it('accepts an empty batch and stores nothing', async () => {
    await running().batch();
    expect(await running().events()).toEqual([]);
  });

  it('keeps a source other than custom', async () => {
    await running().batch({ ...createVisitor().event('e'), source: 'server' });
    expect((await running().events())[0]?.source).toBe('server');
  });

  it('stores nothing of a batch with one invalid event, and no customer', async () => {
    const visitor = createVisitor();
    const good = visitor.event('good');
    const response = await running().request('POST', '/api/events/batch/', { batch: [good, { ...good, event: '' }] });
    expect(response.status).toBe(400);
    expect(await running().events()).toEqual([]);
    expect(await running().customers()).toEqual([]);
  });

  it('stores nothing when the last statement of a batch fails', async () => {
    const { database } = running();
    const failing: Database = {
      ...database,
      transaction: (work) =>
        database.transaction((query) =>
          work((sql, params) => (sql.includes('firings') ? query('select 1/0') : query(sql, params))),
        ),
    };
    await expect(storeEvents(failing, checked(createVisitor().event('e')))).rejects.toThrow('division by zero');
    expect(await running().events()).toEqual([]);
    // The connection works again.
    await running().batch(createVisitor().event('e'));
  });

  it('runs as many statements for 200 events as for one', async () => {
    const one = counting(running().database);
    await storeEvents(one, checked(createVisitor().event('e')));
    const many = counting(running().database);
    await storeEvents(many, checked(...numbers(200).map((n) => createVisitor().event(`e${n % 7}`))));
    expect(many.statements).toHaveLength(one.statements.length);
    expect(await running().events()).toHaveLength(201);
  });
}

function repeats(running: () => Running) {
  it('stores a duplicate once, in a later batch and in the same one', async () => {
    const visitor = createVisitor();
    const [first, second] = [visitor.event('first', { n: 1 }), visitor.event('second')];
    await running().batch(first, { ...first, payload: { n: 2 } }, second);
    await running().batch(first, second);
    await running().single(first);
    const events = await running().events();
    expect(events.map(({ event, payload }) => [event, payload])).toEqual([
      ['first', { n: 1 }],
      ['second', null],
    ]);
  });

  it('recognises a uuid in either case', async () => {
    const event = createVisitor().event('e');
    await running().batch(event, { ...event, uuid: event.uuid.toUpperCase() });
    expect((await running().events()).map(({ uuid }) => uuid)).toEqual([event.uuid]);
  });

  it('stores the same batch once when it arrives twenty times at once', async () => {
    const visitor = createVisitor();
    await running().journey('any', 'e1');
    const events = [visitor.identify('ada'), ...numbers(20).map((n) => visitor.event(`e${n}`))];
    await Promise.all(numbers(20).map(() => running().batch(...events)));
    expect((await running().events()).map(({ uuid }) => uuid)).toEqual(events.map(({ uuid }) => uuid));
    expect((await running().journeys())[0]?.firings).toHaveLength(1);
    expect(await running().customers()).toHaveLength(1);
  });

  it('creates no customer for a duplicate with another visitor id', async () => {
    const event = createVisitor().event('e');
    await running().batch(event);
    await running().batch({ ...event, correlationValue: randomUUID() });
    expect(await running().customers()).toHaveLength(1);
  });
}

function order(running: () => Running) {
  it('keeps the order of the batch, whatever its timestamps are', async () => {
    const visitor = createVisitor();
    const events = numbers(200).map((n) => ({
      ...visitor.event(`e${n}`),
      timestamp: new Date(2e12 - n * 1000).toISOString(),
    }));
    await running().batch(...events.slice(0, 120));
    await running().batch(...events.slice(120));
    expect((await running().events()).map(({ event }) => event)).toEqual(events.map(({ event }) => event));
  });

  it('lists customers in their order of arrival', async () => {
    const visitors = numbers(30).map(() => createVisitor());
    await running().batch(...visitors.map((visitor) => visitor.event('e')));
    expect((await running().customers()).map(({ correlationValues }) => correlationValues[0])).toEqual(
      visitors.map(({ correlationValue }) => correlationValue),
    );
  });
}

function concurrency(running: () => Running) {
  it('creates one customer when ten batches of a new visitor arrive at once', async () => {
    const visitor = createVisitor();
    await Promise.all(numbers(10).map((n) => running().batch(visitor.event(`e${n}`))));
    const customers = await running().customers();
    expect(customers).toHaveLength(1);
    expect(customers[0]?.correlationValues).toEqual([visitor.correlationValue]);
    expect(await running().events()).toHaveLength(10);
  });

  it('stores the events of a batch next to each other', async () => {
    const visitors = numbers(8).map(() => createVisitor());
    await Promise.all(visitors.map((visitor) => running().batch(...numbers(25).map((n) => visitor.event(`e${n}`)))));
    const seen = (await running().events()).map(({ correlationValue }) => correlationValue);
    expect(seen.filter((value, index) => value !== seen[index - 1])).toHaveLength(8);
  });

  it('has no deadlock when batches and upserts touch the same customers in opposite orders', async () => {
    const visitors = numbers(6).map(() => createVisitor());
    const names = numbers(6).map((n) => `person-${n}`);
    const crosswise = visitors.flatMap((visitor, n) => [visitor.identify(names[n]), visitor.event('e')]);
    const fresh = (events: typeof crosswise) => events.map((event) => ({ ...event, uuid: randomUUID() }));
    await Promise.all(
      numbers(12).flatMap((n) => [
        running().batch(...fresh(n % 2 ? crosswise : crosswise.toReversed())),
        running().upsert(names[n % 6] ?? '', { n }),
      ]),
    );
    const customers = await running().customers();
    expect(customers.map(({ primaryKey }) => primaryKey).sort()).toEqual(names);
    expect(await running().events()).toHaveLength(144);
  });
}

function strangeData(running: () => Running) {
  it('replaces NUL and lone surrogates in every string and key, and keeps the batch', async () => {
    const visitor = createVisitor();
    const odd = 'a\0b\ud800c\udc00d';
    const mended = 'a\ufffdb\ufffdc\ufffdd';
    await running().batch(
      visitor.event(odd, { [odd]: [odd, { deep: odd }] }),
      { ...visitor.event('e', odd), source: odd, correlationKey: odd },
      visitor.event('fine 👩‍🚀', '👩‍🚀'),
      visitor.identify(odd),
    );
    const [first, second, third] = await running().events();
    expect(first).toMatchObject({ event: mended, payload: { [mended]: [mended, { deep: mended }] } });
    expect(second).toMatchObject({ source: mended, correlationKey: mended, payload: mended });
    expect(third).toMatchObject({ event: 'fine 👩‍🚀', payload: '👩‍🚀' });
    expect((await running().customers())[0]?.primaryKey).toBe(mended);
    await running().upsert(odd, { [odd]: odd });
    expect(await running().customers()).toMatchObject([{ primaryKey: mended, properties: { [mended]: mended } }]);
  });

  it('keeps __proto__ and constructor as plain data and changes no prototype', async () => {
    const payload = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"a":{"__proto__":null}}';
    const event = JSON.stringify({ ...createVisitor().event('e'), payload: 'here' }).replace('"here"', payload);
    expect((await running().request('POST', '/api/events/batch/', `{"batch":[${event}]}`)).status).toBe(201);
    const upsert = `{"primary_key":"ada","properties":${payload}}`;
    expect((await running().request('POST', '/api/customers/upsert', upsert)).status).toBe(201);
    const expected = JSON.parse(payload);
    expect(Object.hasOwn(expected, '__proto__')).toBe(true);
    const [stored] = await running().events();
    const [, customer] = await running().customers();
    for (const data of [stored?.payload, customer?.properties] as Record<string, unknown>[]) {
      expect(Object.getOwnPropertyDescriptor(data, '__proto__')?.value).toEqual({ polluted: 1 });
      expect(data.constructor).toEqual({ prototype: { polluted: 1 } });
    }
    expect('polluted' in {}).toBe(false);
  });

  it('refuses payloads nested too deep and accepts the deepest allowed', async () => {
    // The payload is text, because `JSON.stringify` fails at a lower depth than the collector.
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    const visitor = createVisitor();
    const send = (payload: string) => {
      const events = JSON.stringify([visitor.event('ok'), visitor.event('deep', 'here')]).replace('"here"', payload);
      return running().request('POST', '/api/events/batch/', `{"batch":${events}}`);
    };
    for (const depth of [201, 5_000, 50_000]) {
      const response = await send(nested(depth));
      expect(response.status).toBe(400);
      expect(await response.json()).toEqual({
        error: 'batch[1].payload: expected at most 200 levels of nesting, received an array',
      });
    }
    expect(await running().events()).toEqual([]);
    expect((await send(nested(200))).status).toBe(201);
    expect((await running().events())[1]?.payload).toEqual(JSON.parse(nested(200)));
  });

  it('stores SQL in strings as text', async () => {
    const sql = `'); drop table events; --"\\'$1 %s {}`;
    const visitor = createVisitor();
    const event = { ...visitor.event(sql, { [sql]: sql }), source: sql, correlationKey: sql };
    await running().batch(event, visitor.identify(sql));
    await running().upsert(sql, { [sql]: sql, gone: null });
    await running().journey(sql, sql, { [sql]: sql });
    await running().batch(visitor.event(sql, { [sql]: sql }));
    expect((await running().events())[0]).toMatchObject(event);
    expect(await running().customers()).toMatchObject([{ primaryKey: sql, properties: { [sql]: sql } }]);
    expect(await running().journeys()).toMatchObject([{ name: sql, firings: [{ primaryKey: sql }] }]);
  });

  it('accepts names and values as long as a body can hold', async () => {
    // The text is random, because Postgres might compress another text until it fits into an index.
    const long = numbers(600)
      .map(() => randomUUID())
      .join('');
    await running().journey('long', long);
    await running().batch({ ...createVisitor().event(long), source: 'custom', correlationKey: long });
    expect((await running().events())[0]).toMatchObject({ event: long, correlationKey: long });
    expect((await running().journeys())[0]?.firings).toHaveLength(1);
  });

  it('accepts the longest primary key in every script', async () => {
    for (const letter of ['漢', '𝔸']) {
      const key = Array.from({ length: 500 / letter.length }, (_, n) =>
        String.fromCodePoint((letter.codePointAt(0) ?? 0) + ((n * 7919) % 40)),
      ).join('');
      await running().batch(createVisitor().identify(key));
      expect((await running().customers()).at(-1)?.primaryKey).toBe(key);
      await running().upsert(key);
    }
  });
}
