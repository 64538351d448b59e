import type { Upsert } from '../../src/wire.ts';
import { type Query, WRITING_LOCK_SHARED } from './database.ts';
import { PRIMARY_KEY_ATTRIBUTE } from './settings.ts';

/**
 * Adds or changes each property, deletes those that are `null` at the top level, and creates the customer if there is none.
 * Gives back the customer's id, or `undefined` while no primary key attribute is chosen.
 *
 * One statement, so that two requests for a new key meet in the unique index. The later one updates the earlier one's customer.
 */
export async function upsertCustomer(
  query: Query,
  { primary_key, properties = {} }: Upsert,
): Promise<string | undefined> {
  const [row] = await query<{ id: string }>(
    `with given as (
       select changes, array(select key from jsonb_each(changes) where value = 'null') as deleted
       from (select $2::jsonb as changes) as body
     )
     insert into customers (primary_key, properties)
     select $1, changes - deleted
     from given, (select ${WRITING_LOCK_SHARED}) as lock
     where exists (select from settings where name = '${PRIMARY_KEY_ATTRIBUTE}' and value is not null)
     on conflict (primary_key) do update
       set properties = (customers.properties || excluded.properties) - (select deleted from given)
     returning id`,
    [primary_key, JSON.stringify(properties)],
  );
  return row?.id;
}
