import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { useCollector } from '../collector/running.ts';
import { blocksOf } from './markdown.ts';

const running = useCollector();

it('the documented SQL deletes one person of the collector and no other', async () => {
  const { query } = running().database;
  const [customer, visitorId, other, stranger] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  await query('insert into customers (id, primary_key) values ($1, $2), ($3, $4)', [
    customer,
    'user_4711',
    other,
    'bob',
  ]);
  await query('insert into visitor_ids (correlation_value, customer_id) values ($1, $2), ($3, $4)', [
    visitorId,
    customer,
    stranger,
    other,
  ]);
  for (const value of [visitorId, stranger])
    await query(
      `insert into events (uuid, timestamp, event, source, correlation_key, correlation_value)
       values (gen_random_uuid(), now(), 'signup', 'custom', '_id', $1)`,
      [value],
    );
  await query("insert into journeys (name, event) values ('Welcome', 'signup')");
  // One journey has fired for the customer who had the visitor id before.
  await query(`insert into firings select j.id, e.seq, '${other}' from journeys j, events e`);

  const [whoDidWhat, counts, forget, ...more] = blocksOf('docs/collector.md').filter(({ lang }) => lang === 'sql');
  expect(more).toEqual([]);
  expect(await query(whoDidWhat?.text ?? '')).toMatchObject([{ primary_key: 'user_4711' }, { primary_key: 'bob' }]);
  expect(await query(counts?.text ?? '')).toMatchObject([{ event: 'signup', count: 2 }]);
  await query(forget?.text ?? '');
  for (const table of ['customers', 'visitor_ids', 'events', 'firings'])
    expect(await query(`select from ${table}`), table).toHaveLength(1);
});
