import { readdirSync, readFileSync } from 'node:fs';

/** How many lines a part of the sample has. Stryker leaves out a mutant that crosses the border of a part. */
const PART_LINES = 25;

/** Parts of these files, each with its lines (`src/tracker.ts:26-50`): the first of `oneOf` parts, and then each `oneOf`th. */
export function sampleOf(files, oneOf) {
  return files.flatMap(partsOf).filter((_, place) => place % oneOf === 0);
}

function partsOf(file) {
  const lines = readFileSync(file, 'utf8').split('\n').length;
  const count = Math.ceil(lines / PART_LINES);
  return Array.from({ length: count }, (_, part) => `${file}:${part * PART_LINES + 1}-${(part + 1) * PART_LINES}`);
}

/** The TypeScript files of these folders of `src`, in the order of their names. */
export function filesOf(folders) {
  const names = readdirSync('src', { recursive: true }).map((name) => `src/${name.replaceAll('\\', '/')}`);
  const isIn = (name, folder) => name === `src/${folder}.ts` || name.startsWith(`src/${folder}/`);
  return names.filter((name) => name.endsWith('.ts') && folders.some((folder) => isIn(name, folder))).sort();
}
