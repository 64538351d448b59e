import type { Database, Query } from './database.ts';
import { lockWriting } from './database.ts';

/** Starts with an event of this name and, if there is a filter, of a payload that contains it (`@>` of jsonb). */
export interface Journey {
  name: string;
  event: string;
  filter: Record<string, unknown> | null;
}

/** Returns `undefined` if the journey exists already. Without the writing lock, two callers could both create it. */
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

/** Deletes a journey and its firings. Returns false if there is no such journey. */
export const deleteJourney = ({ transaction }: Database, id: string): Promise<boolean> =>
  transaction(async (query) => {
    await lockWriting(query);
    return (await query('delete from journeys where id = $1 returning id', [id])).length === 1;
  });
