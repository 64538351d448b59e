import type { Query } from './database.ts';

interface Parties {
  /** The customer whom the visitor id belongs to now. */
  current: string;
  isAnonymous: boolean;
  /** The customer with the primary key, if there is one. */
  known: string | null;
}

/**
 * Ties a visitor id to the customer with `primaryKey`. An anonymous customer takes the key, or is merged into the customer who
 * has it. If the visitor id belongs to another named customer, only the visitor id moves. The caller needs the writing lock.
 */
export async function tieVisitorId(query: Query, correlationValue: string, primaryKey: string): Promise<void> {
  const [parties] = await query<Parties>(
    `select c.id as current, c.primary_key is null as "isAnonymous",
            (select id from customers where primary_key = $2) as known
     from visitor_ids t join customers c on c.id = t.customer_id
     where t.correlation_value = $1`,
    [correlationValue, primaryKey],
  );
  if (parties === undefined) throw new Error(`no customer has the visitor id ${correlationValue}`);
  const { current, isAnonymous, known } = parties;
  if (known === current) return;
  if (!isAnonymous) return moveVisitorId(query, correlationValue, known ?? (await createCustomer(query, primaryKey)));
  if (known !== null) return merge(query, current, known);
  await query('update customers set primary_key = $2 where id = $1', [current, primaryKey]);
}

async function createCustomer(query: Query, primaryKey: string): Promise<string> {
  const [row] = await query<{ id: string }>('insert into customers (primary_key) values ($1) returning id', [
    primaryKey,
  ]);
  if (row === undefined) throw new Error('the insert returned no row');
  return row.id;
}

async function moveVisitorId(query: Query, correlationValue: string, customer: string): Promise<void> {
  await query('update visitor_ids set customer_id = $2 where correlation_value = $1', [correlationValue, customer]);
}

async function merge(query: Query, anonymous: string, known: string): Promise<void> {
  await query('update visitor_ids set customer_id = $2 where customer_id = $1', [anonymous, known]);
  await query('update firings set customer_id = $2 where customer_id = $1', [anonymous, known]);
  await query(
    `with gone as (delete from customers where id = $1 returning properties)
     update customers c set properties = gone.properties || c.properties from gone where c.id = $2`,
    [anonymous, known],
  );
}
