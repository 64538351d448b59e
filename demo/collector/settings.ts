import type { Query } from './database.ts';

/** The name of the setting, in the table. */
export const PRIMARY_KEY_ATTRIBUTE = 'primary-key-attribute';

/** The customer attribute that holds the primary key, or `null` while none is chosen. */
export async function readPrimaryKeyAttribute(query: Query): Promise<string | null> {
  const [row] = await query<{ value: string | null }>('select value from settings where name = $1', [
    PRIMARY_KEY_ATTRIBUTE,
  ]);
  return row?.value ?? null;
}

export async function choosePrimaryKeyAttribute(query: Query, attribute: string | null): Promise<void> {
  await query(
    'insert into settings (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value',
    [PRIMARY_KEY_ATTRIBUTE, attribute],
  );
}

/** True for one caller in the life of the database. */
export async function isFirstStart(query: Query): Promise<boolean> {
  const rows = await query(
    `insert into settings (name) values ('started') on conflict (name) do nothing returning name`,
  );
  return rows.length === 1;
}
