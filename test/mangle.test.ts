import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, expect, it } from 'vitest';

/** Which properties have another name in `clew.js`. */

const ROOT = resolve(import.meta.dirname, '..');
let internalNames: (root: string, entries: string[], host?: ts.CompilerHost) => string[];
let folder: string;

/** Parses TypeScript's own types once for all tests. */
const host = ts.createCompilerHost({});
const parse = host.getSourceFile;
const libraries = new Map<string, ts.SourceFile | undefined>();
host.getSourceFile = (path, ...rest) => {
  if (!path.endsWith('.d.ts')) return parse(path, ...rest);
  if (!libraries.has(path)) libraries.set(path, parse(path, ...rest));
  return libraries.get(path);
};

beforeAll(async () => {
  ({ internalNames } = await import(join(ROOT, 'rollup.config.mjs')));
  folder = await mkdtemp(join(tmpdir(), 'clew-mangle-'));
  await mkdir(join(folder, 'src'));
  await writeFile(join(folder, 'tsconfig.json'), '{"compilerOptions":{"strict":true,"lib":["ES2022","DOM"]}}');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The internal names of a source that has the type `Inner { a: Deep }` with `Deep { b: number }`. */
const namesIn = async (source: string) => {
  const types = 'interface Deep { b: number }\ninterface Inner { a: Deep }\ndeclare const inner: Inner;\n';
  await writeFile(join(folder, 'src/entry.ts'), `${types}${source}\nexport {};`);
  return internalNames(folder, ['entry.ts'], host).toSorted();
};

it('mangles a property that only the sources use', async () => {
  expect(await namesIn('const use = ({ a }: Inner) => a.b + inner.a.b;\nuse(inner);')).toEqual(['a', 'b']);
  expect(await namesIn('const make = () => ({ c: 1, d() {} });\nmake().d();')).toEqual(['a', 'b', 'c', 'd']);
});

it.each([
  ['an exported type', 'export type Outer = { inner: Inner };'],
  ['an exported function', 'export const give = (): Inner | undefined => inner;'],
  ['a parameter of an exported function', 'export const take = (_: readonly Inner[]): void => {};'],
  ['an exported generic type', 'export const make = async <T extends Inner>(one: T) => new Map([[one, 1]]);'],
  ['JSON', 'JSON.stringify([{ ...inner, at: 1 }]);'],
  ['a message', "new BroadcastChannel('').postMessage(inner);"],
  ['a value that JSON has', "const read = JSON.parse('') as Inner;"],
  ['a value of an unknown form', "const read: Inner = JSON.parse('');"],
  ['a property of the browser that TypeScript does not know', 'const read = window as { inner?: Inner };'],
  ['an index', 'const all: Record<string, unknown> = { inner };'],
  ['a value of a given form', 'declare const read: <T>() => T;\nread<Inner>();'],
  ['a name that is looked for', "const has = 'a' in inner;"],
  ['a computed name', 'const read = (name: keyof Inner & keyof Deep) => [inner[name], inner.a[name]];'],
])('keeps the names of %s', async (_, source) => {
  expect((await namesIn(source)).filter((name) => 'ab'.includes(name))).toEqual([]);
});

it.each([
  [
    "options of the browser's listeners",
    "interface Own { once: boolean }\naddEventListener('a', () => {}, {} as Own);",
    'once',
  ],
  ['an object of the browser', 'interface Own { href: string }\nlocation.href;', 'href'],
  ['an object that is taken apart', 'interface Own { href: string }\nconst { href } = location;', 'href'],
  ['a value without a type', "interface Own { href: string }\nJSON.parse('').href;", 'href'],
])('keeps a name that is also in %s', async (_, source, name) => {
  expect(await namesIn(source)).not.toContain(name);
});

it('mangles nothing that is stored, sent, posted or public', () => {
  const names = internalNames(ROOT, ['index.ts', 'wire.ts', 'snippet.ts']);
  expect(names).toEqual(expect.arrayContaining(['isDirect', 'onSettled', 'excessOf', 'grant']));
  const visitor = 'thread turn keys pages taken';
  const journal = 'isLeft texts at visitor q';
  const link = 'by until fails okAt asked refused';
  const wire = 'uuid timestamp event source correlationKey correlationValue payload seq distinct_id primary_key';
  const trace =
    'step uuids path bytes gzip leaving outcome status retryAfter rejected message tab visitorId primaryKey';
  const stats = 'tracked delivered queued dropped';
  const options = 'flushInterval maxBatchEvents storageName respectGpc transport store hash query outbound downloads';
  for (const known of [visitor, journal, link, wire, trace, stats, options])
    expect(names.filter((name) => known.split(' ').includes(name))).toEqual([]);
});
