import type { Database, Query } from './database.ts';
import { lockWriting } from './database.ts';

/** Waits on an event's name and, if there is a filter, on a payload that contains it (`@>` of jsonb). */
export interface Journey {
  name: string;
  event: string;
  filter: Record<string, unknown> | null;
}

/** Undefined when there is such a journey. Two callers at the same time need the writing lock. */
export async function createJourney(
  query: Query,
  { name, event, filter }: Journey,
): Promise<(Journey & { id: string }) | undefined> {
  const [row] = await query<{ id: string }>(
    `insert into journeys (name, event, filter)
     select $1::text, $2::text, $3::jsonb
     where not exists (
       select from journeys where name = $1::text and event = $2::text and filter is not distinct from $3::jsonb
     )
     returning id`,
    [name, event, filter && JSON.stringify(filter)],
  );
  return row && { id: row.id, name, event, filter };
}

/** False when there was no such journey. Its firings go with it. */
export const deleteJourney = ({ transaction }: Database, id: string): Promise<boolean> =>
  transaction(async (query) => {
    await lockWriting(query);
    return (await query('delete from journeys where id = $1 returning id', [id])).length === 1;
  });
