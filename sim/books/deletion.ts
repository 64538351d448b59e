import type { Key } from '../browser/keys.ts';
import type { Stage } from '../walk/stage.ts';

interface Row {
  readonly key: Key;
  readonly texts: readonly string[];
}

const rowsOf = ({ browser }: Stage): Row[] =>
  (browser.disk.rows()?.range(undefined, Number.POSITIVE_INFINITY) ?? []).flatMap(([key, value]) =>
    Array.isArray(value) && value.every((text) => typeof text === 'string') && value[0] ? { key, texts: value } : [],
  );

/** Deletes a row of events, or some of its events, as no part of clew does. Returns the texts of the events. */
export const deleteRow = (stage: Stage): readonly string[] => {
  const { browser, world } = stage;
  // A running transaction could undo the change.
  if (browser.disk.holder()) return [];
  const rows = rowsOf(stage);
  if (!rows[0]) return [];
  const { key, texts } = world.random.pick(rows);
  const kept = world.random.chance(0.5) ? texts.filter(() => world.random.chance(0.5)) : [];
  browser.disk.rows()?.set(key, kept[0] ? kept : undefined);
  const deleted = texts.filter((text) => !kept.includes(text));
  world.log('somebody', () => `deletes ${deleted.length} events`);
  return deleted;
};
