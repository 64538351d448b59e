import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { SCHEMA } from '../../demo/collector/schema.ts';

const modules = join(import.meta.dirname, '../../node_modules');

/** Depends on the schema and on the Postgres inside PGlite, so that a change of either creates another template. */
const nameTemplate = async (): Promise<string> => {
  const { version } = JSON.parse(await readFile(join(modules, '@electric-sql/pglite/package.json'), 'utf8'));
  const hash = createHash('sha256')
    .update(JSON.stringify([version, SCHEMA]))
    .digest('hex');
  return `database-${hash.slice(0, 16)}.tar`;
};

/**
 * Returns the file from which collectors in tests copy their database: an empty one with the schema. Creates the file unless
 * an earlier run has left it. PGlite starts from a copy several times faster than with Postgres's `initdb`.
 *
 * Collectors and the demo find the file in the environment variable `CLEW_DATABASE_TEMPLATE`.
 */
export const createDatabaseTemplate = async (): Promise<string> => {
  const folder = join(modules, '.cache/clew');
  const file = join(folder, await nameTemplate());
  if (existsSync(file)) return file;
  const engine = await PGlite.create();
  for (const statement of SCHEMA) await engine.query(statement);
  const dump = await engine.dumpDataDir('none');
  await engine.close();
  await mkdir(folder, { recursive: true });
  // Two runs may create the template at once. A rename puts the whole file in place.
  const partial = `${file}.${process.pid}`;
  await writeFile(partial, Buffer.from(await dump.arrayBuffer()));
  await rename(partial, file);
  return file;
};
