import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type MadeCatalogue, makeCatalogue } from '../catalogue/catalogue.js';
import { checkCatalogue } from '../catalogue/checkCatalogue.js';
import { type Journey, readJourneys } from '../catalogue/journeys.js';
import { marksInJsx } from '../catalogue/jsx.js';
import { markdownOf } from '../catalogue/markdown.js';
import { readTypes } from '../catalogue/readTypes.js';
import { reportOn } from '../catalogue/report.js';
import { inTime } from '../service/inTime.js';
import { readMarks } from './markedFiles.js';
import { hasTypes, loadCompiler, openProjects } from './project.js';

export const HELP = `npx clew catalogue [files and folders with marked HTML]

Reads the events of createTracker<Events>, of data-clew- attributes and of calls in HTML, and writes a catalogue of them.
Without files and folders, it reads the current folder.

  --json <file>          the JSON Schema to write (catalogue.json)
  --markdown <file>      the page to write (catalogue.md)
  --diff <file>          writes nothing, and compares with this earlier catalogue.json. "-" reads it from stdin
  --journeys <file|url>  JSON: a list of { name, event, filter }, or an object with the list "journeys"
  --events <file#Type>   reads this event map, in place of those of createTracker
  --project <file>       the project's tsconfig.json (tsconfig.json)

It ends with 1 if a difference breaks journeys or events, or if a mark does not fit its event's type.
`;

/** Where the command writes. */
export interface Output {
  readonly log: (text: string) => void;
  readonly warn: (text: string) => void;
}

const parse = (args: readonly string[]) =>
  parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      json: { type: 'string', default: 'catalogue.json' },
      markdown: { type: 'string', default: 'catalogue.md' },
      diff: { type: 'string' },
      journeys: { type: 'string' },
      events: { type: 'string' },
      project: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });

/** The value of a JSON file, or of standard input. */
const readJson = async <T>(name: string, read: () => Promise<string>, check: (value: unknown) => T): Promise<T> => {
  try {
    // Some shells and editors of Windows begin a file with a byte order mark.
    return check(JSON.parse((await read()).replace(/^\ufeff/, '')));
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : error}`);
  }
};

/** How long a server may take to answer with its journeys, in ms. */
const LONGEST_DOWNLOAD = 10_000;

const download = async (url: string): Promise<string> => {
  const cancelled = new AbortController();
  const ask = async () => {
    const response = await fetch(url, { signal: cancelled.signal });
    if (!response.ok) throw new Error(`answered ${response.status}`);
    return response.text();
  };
  // The rest of an answer would keep the process alive.
  return inTime(ask(), LONGEST_DOWNLOAD, 'the server').finally(() => cancelled.abort());
};

const journeysFrom = (cwd: string, source: string): Promise<Journey[]> =>
  readJson(
    source,
    () => (/^https?:/.test(source) ? download(source) : readFile(resolve(cwd, source), 'utf8')),
    readJourneys,
  );

/** Reads the types and the JSX of the project. */
const readProject = (cwd: string, events: string | undefined, tsconfig: string | undefined) => {
  const [, path = '', name = ''] = /^(.+)#(.+)$/.exec(events ?? '') ?? [];
  if (events !== undefined && !path) throw new Error(`--events: expected <file>#<Type>, got ${events}`);
  const given = path ? { file: resolve(cwd, path).replaceAll('\\', '/'), name } : undefined;
  const extra = given ? [given.file] : [];
  if (!hasTypes(cwd, tsconfig, extra)) return { types: { events: [], defs: {}, problems: [] }, inJsx: [], outDirs: [] };
  const compiler = loadCompiler(cwd);
  const { projects, outDirs } = openProjects(compiler, cwd, tsconfig, extra);
  const types = readTypes(compiler, projects, given);
  const inJsx = projects.flatMap((project) => marksInJsx(compiler, project, (file) => relative(cwd, file)));
  return { types, inJsx, outDirs };
};

/** Reads the catalogue of the project's sources. */
const readSources = async (
  cwd: string,
  paths: readonly string[],
  events: string | undefined,
  tsconfig: string | undefined,
): Promise<MadeCatalogue> => {
  const { types, inJsx, outDirs } = readProject(cwd, events, tsconfig);
  const inHtml = await readMarks(cwd, paths[0] === undefined ? ['.'] : paths, outDirs);
  if (!types.events[0] && !inJsx[0] && !inHtml[0])
    throw new Error(
      types.problems[0] ??
        'no createTracker<Events> and no data-clew- attributes found: pass --project <file> or --events <file>#<Type>',
    );
  return makeCatalogue(types, [...inJsx, ...inHtml]);
};

/**
 * Runs `npx clew catalogue`.
 *
 * @returns the exit code
 */
export const runCatalogue = async (args: readonly string[], cwd: string, { log, warn }: Output): Promise<number> => {
  const { values, positionals } = parse(args);
  const { json, markdown, diff, journeys: source, events, project } = values;
  if (values.help) {
    log(HELP);
    return 0;
  }
  const journeys = source === undefined ? [] : await journeysFrom(cwd, source);
  const { catalogue, faults, notes } = await readSources(cwd, positionals, events, project);
  for (const text of [...notes, ...faults]) warn(text);
  if (diff !== undefined) {
    const read = async () => (diff === '-' ? readFileSync(0, 'utf8') : readFile(resolve(cwd, diff), 'utf8'));
    const { text, isBreaking } = reportOn(await readJson(diff, read, checkCatalogue), catalogue, journeys);
    log(text);
    return isBreaking || faults[0] !== undefined ? 1 : 0;
  }
  await writeFile(resolve(cwd, json), `${JSON.stringify(catalogue, null, 2)}\n`);
  await writeFile(resolve(cwd, markdown), markdownOf(catalogue, journeys));
  log(`${json} and ${markdown} have ${catalogue.anyOf.length} events\n`);
  return faults[0] === undefined ? 0 : 1;
};
