import type { Database, Query } from './database.ts';
import { lockWriting } from './database.ts';

/** Waits on an event's name and, if there is a filter, on a payload that contains it (`@>` of jsonb). */
export interface Journey {
  name: string;
  event: string;
  filter: Record<string, unknown> | null;
}

export async function createJourney(query: Query, { name, event, filter }: Journey): Promise<Journey & { id: string }> {
  const [row] = await query<{ id: string }>(
    'insert into journeys (name, event, filter) values ($1, $2, $3::jsonb) returning id',
    [name, event, filter && JSON.stringify(filter)],
  );
  if (row === undefined) throw new Error('the insert returned no row');
  return { id: row.id, name, event, filter };
}

/** False when there was no such journey. Its firings go with it. */
export const deleteJourney = ({ transaction }: Database, id: string): Promise<boolean> =>
  transaction(async (query) => {
    await lockWriting(query);
    return (await query('delete from journeys where id = $1 returning id', [id])).length === 1;
  });
