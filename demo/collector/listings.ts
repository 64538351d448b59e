import type { Query } from './database.ts';

/** The lists for the demo page and the tests, in order of arrival. With `limit`, a list has only the newest rows. */

export interface ListedEvent {
  uuid: string;
  timestamp: string;
  event: string;
  source: string;
  correlationKey: string;
  correlationValue: string;
  payload: unknown;
  customerId: string;
  primaryKey: string | null;
}

export interface ListedCustomer {
  id: string;
  primaryKey: string | null;
  properties: Record<string, unknown>;
  correlationValues: string[];
}

export interface ListedJourney {
  id: string;
  name: string;
  event: string;
  filter: Record<string, unknown> | null;
  /** How often the journey has started. With `limit`, `firings` has only the newest starts. */
  count: number;
  firings: { uuid: string; customerId: string; primaryKey: string | null; at: string }[];
}

export interface Counts {
  events: number;
  customers: number;
  journeys: number;
  firings: number;
}

const iso = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

export const listEvents = (query: Query, limit: number | null): Promise<ListedEvent[]> =>
  query(
    `select e.uuid, ${iso('e.timestamp')} as timestamp, e.event, e.source, e.correlation_key as "correlationKey",
            e.correlation_value as "correlationValue", e.payload, c.id as "customerId", c.primary_key as "primaryKey"
     from (select * from events order by seq desc limit $1::bigint) e
     join visitor_ids t using (correlation_value)
     join customers c on c.id = t.customer_id
     order by e.seq`,
    [limit],
  );

/** @param chosen the select of the rows of customers */
const customersOf = (chosen: string) =>
  `select c.id, c.primary_key as "primaryKey", c.properties,
          array(select t.correlation_value::text from visitor_ids t where t.customer_id = c.id order by t.seq) as "correlationValues"
   from (${chosen}) c
   order by c.seq`;

export const listCustomers = (query: Query, limit: number | null): Promise<ListedCustomer[]> =>
  query(customersOf('select * from customers order by seq desc limit $1::bigint'), [limit]);

/** The customer of this visitor id, or none before its first event. */
export const listCustomersOf = (query: Query, visitorId: string): Promise<ListedCustomer[]> => {
  const owner = 'select customer_id from visitor_ids where correlation_value = $1::uuid';
  return query(customersOf(`select * from customers where id = (${owner})`), [visitorId]);
};

/** `limit` applies twice: to the journeys, and to the firings of each journey. */
export const listJourneys = (query: Query, limit: number | null): Promise<ListedJourney[]> =>
  query(
    `select j.id, j.name, j.event, j.filter, (select count(*) from firings where journey_id = j.id)::int as count,
            (select coalesce(jsonb_agg(to_jsonb(f) - 'seq' order by f.seq), '[]') from (
               select e.seq, e.uuid, c.id as "customerId", c.primary_key as "primaryKey", ${iso('f.at')} as at
               from (
                 select * from firings where journey_id = j.id order by event_seq desc limit $1::bigint
               ) f join events e on e.seq = f.event_seq join customers c on c.id = f.customer_id
             ) f) as firings
     from (select * from journeys order by seq desc limit $1::bigint) j
     order by j.seq`,
    [limit],
  );

export async function countAll(query: Query): Promise<Counts> {
  const [counts] = await query<Counts>(
    `select (select count(*) from events)::int as events, (select count(*) from customers)::int as customers,
            (select count(*) from journeys)::int as journeys, (select count(*) from firings)::int as firings`,
  );
  if (counts === undefined) throw new Error('the select returned no row');
  return counts;
}
