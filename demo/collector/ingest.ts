import { type Database, lockWriting, type Query } from './database.ts';
import { tieVisitorId } from './identify.ts';
import type { CheckedEvent } from './validation.ts';

/** Stores the events in their order, in one transaction: all or none. Events whose `uuid` is stored already are skipped. */
export async function storeEvents({ transaction }: Database, events: CheckedEvent[]): Promise<void> {
  if (events.length === 0) return;
  await transaction(async (query) => {
    await lockWriting(query);
    const stored = new Set((await insertNew(query, events)).map((row) => row.uuid));
    // `delete` is true once for each uuid, so a duplicate within the batch is skipped, too.
    const fresh = events.filter((event) => stored.delete(event.uuid));
    for (const run of splitAtIdentify(fresh)) {
      const [{ identifies, correlationValue }] = run;
      if (identifies !== undefined) await tieVisitorId(query, correlationValue, identifies);
      await fireJourneys(query, run);
    }
  });
}

/** Splits the events before each `$identify`, which changes the customer of later events. Each run is then one statement. */
function splitAtIdentify(events: CheckedEvent[]): [CheckedEvent, ...CheckedEvent[]][] {
  const runs: [CheckedEvent, ...CheckedEvent[]][] = [];
  for (const event of events) {
    const run = runs.at(-1);
    if (run === undefined || event.identifies !== undefined) runs.push([event]);
    else run.push(event);
  }
  return runs;
}

/** Stores the new events, and creates an anonymous customer for each new visitor id. */
const insertNew = (query: Query, events: CheckedEvent[]): Promise<{ uuid: string }[]> =>
  query(
    `with stored as (
       insert into events (uuid, timestamp, event, source, correlation_key, correlation_value, payload)
       select (e->>'uuid')::uuid, (e->>'timestamp')::timestamptz, e->>'event', e->>'source',
              e->>'correlationKey', (e->>'correlationValue')::uuid, e->'payload'
       from jsonb_array_elements($1::jsonb) with ordinality as incoming (e, place)
       order by place
       on conflict (uuid) do nothing
       returning seq, uuid, correlation_value
     ), strangers as materialized (
       select correlation_value, gen_random_uuid() as customer_id, min(seq) as first
       from stored
       where not exists (select from visitor_ids t where t.correlation_value = stored.correlation_value)
       group by correlation_value
     ), anonymous as (
       insert into customers (id) select customer_id from strangers order by first
     ), begun as (
       insert into visitor_ids (correlation_value, customer_id)
       select correlation_value, customer_id from strangers order by first
     )
     select uuid from stored`,
    [JSON.stringify(events)],
  );

/** Only the source `custom` ever matches a journey. */
const fireJourneys = (query: Query, events: CheckedEvent[]): Promise<unknown[]> =>
  query(
    `insert into firings (journey_id, event_seq, customer_id)
     select j.id, e.seq, t.customer_id
     from events e
     join visitor_ids t using (correlation_value)
     join journeys j on j.event = e.event and (j.filter is null or e.payload @> j.filter)
     where e.source = 'custom' and e.uuid in (select value::uuid from jsonb_array_elements_text($1::jsonb))
     order by e.seq, j.seq`,
    [JSON.stringify(events.map((event) => event.uuid))],
  );
