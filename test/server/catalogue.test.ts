import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runCatalogue } from '../../src/server/catalogue.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const TRACKER = `import { createTracker } from 'clew';
export interface AppEvents { signup: { plan: 'free' | 'pro' } }
export const tracker = createTracker<AppEvents>({ baseUrl: '/clew' });`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'clew-catalogue-'));
});
afterEach(() => rm(folder, { recursive: true }));

const put = async (files: Record<string, string>) => {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
};
const text = (name: string) => readFile(join(folder, name), 'utf8');
const run = async (...args: string[]) => {
  const out: string[] = [];
  const warned: string[] = [];
  const code = await runCatalogue(args, folder, { log: (line) => out.push(line), warn: (line) => warned.push(line) });
  return { code, out: out.join(''), warned };
};
const named = async () => JSON.parse(await text('catalogue.json')).anyOf.map(({ title }: { title: string }) => title);

const PROJECT = {
  'tsconfig.json': JSON.stringify({ include: ['src'], compilerOptions: { types: [], lib: ['es2022'] } }),
  'src/tracker.ts': TRACKER,
};

const REFERRING = { 'tsconfig.json': JSON.stringify({ files: [], references: [{ path: './nope.json' }] }) };

describe('npx clew catalogue', () => {
  it('writes the events of the project, of its HTML and of its JSX', async () => {
    await put({
      ...PROJECT,
      'src/page.tsx': 'export const page = <a data-clew-event="from jsx">x</a>;',
      'index.html': '<a data-clew-event="from html" data-clew-plan="pro">',
      'views/page.vue': '<template><a data-clew-event="from vue"></a></template>',
      'node_modules/other/index.html': '<a data-clew-event="of a package">',
      'notes.txt': '<a data-clew-event="of a text">',
    });
    const { code, out } = await run();
    expect(code).toBe(0);
    expect((await named()).slice(0, 4)).toEqual(['signup', 'from jsx', 'from html', 'from vue']);
    expect(out).toBe('catalogue.json and catalogue.md have 9 events\n');
    expect(await text('catalogue.md')).toContain('## signup\n');
  });

  it('reads a site of HTML that has no project', { tags: 'long' }, async () => {
    await put({ 'index.html': '\ufeff<!doctype html>\r\n<a\r\ndata-clew-event="from html">' });
    expect((await run()).code).toBe(0);
    expect((await named())[0]).toBe('from html');
  });

  it('reads JSON with a byte order mark', { tags: 'long' }, async () => {
    await put(PROJECT);
    await run();
    await put({ 'old.json': `\ufeff${await text('catalogue.json')}`, 'journeys.json': '\ufeff[]' });
    expect(await run('--diff', 'old.json', '--journeys', 'journeys.json')).toMatchObject({
      code: 0,
      out: 'No differences.\n',
    });
  });

  it('reads the files and folders that are given', { tags: 'long' }, async () => {
    await put({
      ...PROJECT,
      'a.html': '<a data-clew-event="a">',
      'b/b.html': '<a data-clew-event="b">',
      'c.txt': '<a data-clew-event="c">',
    });
    await run('b', 'c.txt', '--json', 'out.json', '--markdown', 'out.md');
    const titles = JSON.parse(await text('out.json')).anyOf.map(({ title }: { title: string }) => title);
    expect(titles.slice(0, 3)).toEqual(['signup', 'b', 'c']);
    expect(await text('out.md')).toContain('## b\n');
  });

  it('reads the projects that a tsconfig.json refers to', { tags: 'long' }, async () => {
    await put({
      'tsconfig.json': JSON.stringify({ files: [], references: [{ path: './tsconfig.app.json' }] }),
      'tsconfig.app.json': PROJECT['tsconfig.json'],
      'src/tracker.ts': TRACKER,
    });
    await run();
    expect((await named())[0]).toBe('signup');
  });

  it('reads each project that a tsconfig.json refers to with its own options', { tags: 'long' }, async () => {
    const app = {
      include: ['src'],
      compilerOptions: { types: [], lib: ['es2022'], module: 'esnext', moduleResolution: 'bundler' },
    };
    const own = JSON.stringify({ ...app, compilerOptions: { ...app.compilerOptions, paths: { '@/*': ['./src/*'] } } });
    const tracker = TRACKER.replace(/export interface.*/, "import type { AppEvents } from '@/events';");
    const events = (name: string) =>
      `interface Tree { sub?: Tree; ${name}: 1 } export interface AppEvents { ${name}: Tree }`;
    await put({
      'tsconfig.json': JSON.stringify({ files: [], references: [{ path: './shop' }, { path: './admin' }] }),
      'shop/tsconfig.json': own,
      'shop/src/tracker.ts': tracker,
      'shop/src/events.ts': events('bought'),
      'admin/tsconfig.json': own,
      'admin/src/tracker.ts': tracker,
      'admin/src/events.ts': events('refunded'),
    });
    expect(await run('--project', '.')).toMatchObject({ code: 0, warned: [] });
    expect((await named()).slice(0, 2)).toEqual(['bought', 'refunded']);
    const { $defs } = JSON.parse(await text('catalogue.json'));
    expect($defs).toMatchObject({ Tree: { required: ['bought'] }, Tree2: { required: ['refunded'] } });
  });

  it('reads a file once that two projects import', { tags: 'long' }, async () => {
    const { compilerOptions } = JSON.parse(PROJECT['tsconfig.json']);
    await put({
      'tsconfig.json': JSON.stringify({ files: [], references: [{ path: './a.json' }, { path: './b.json' }] }),
      'a.json': JSON.stringify({ files: ['src/test.tsx'], compilerOptions }),
      'b.json': JSON.stringify({ files: ['src/page.tsx'], compilerOptions }),
      'src/test.tsx': "import './page'; import './tracker';",
      'src/page.tsx':
        'import \'./tracker\'; export const page = <a data-clew-event="signup" data-clew-plan="gold">x</a>;',
      'src/tracker.ts': TRACKER,
    });
    expect((await run()).warned).toHaveLength(1);
  });

  it('reads the sources of a workspace package, and of no other package', async () => {
    const source = (path: string, event: string) => ({
      [`${path}/package.json`]: '{"exports":"./src/index.ts"}',
      [`${path}/src/index.ts`]: `import './link'; ${TRACKER.replace('signup', event)}`,
      [`${path}/src/link.tsx`]: `export const link = <a data-clew-event="${event}_link">x</a>;`,
    });
    await put({
      ...PROJECT,
      'src/tracker.ts': "import '@acme/tracking'; import '@acme/other';",
      ...source('packages/tracking', 'bought'),
      ...source('node_modules/@acme/other', 'sold'),
    });
    await symlink(join(folder, 'packages/tracking'), join(folder, 'node_modules/@acme/tracking'), 'junction');
    await run();
    expect((await named()).slice(0, 3)).toEqual(['bought', 'bought_link', 'page_view']);
  });

  it('compares, and writes nothing', async () => {
    await put({
      ...PROJECT,
      'journeys.json': JSON.stringify([{ name: 'Upgrade', event: 'signup', filter: { plan: 'pro' } }]),
    });
    await run('--json', 'before.json', '--markdown', 'before.md');
    expect(await run('--diff', 'before.json')).toEqual({ code: 0, out: 'No differences.\n', warned: [] });
    await put({ 'src/tracker.ts': TRACKER.replace("'free' | 'pro'", "'free'") });
    const { code, out } = await run('--diff', 'before.json', '--journeys', 'journeys.json');
    expect(code).toBe(1);
    expect(out).toContain('`pro` is gone. The journey *Upgrade* filters on it.');
    await expect(text('catalogue.json')).rejects.toThrow('ENOENT');
  });

  it('waits 10 s for the journeys of a service, also if `fetch` ignores its signal', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    vi.stubGlobal('fetch', () => new Promise(() => {}));
    try {
      const running = run('--journeys', 'http://service.example');
      const late = expect(running).rejects.toThrow('http://service.example: the server did not answer within 10000 ms');
      await vi.advanceTimersByTimeAsync(10_000);
      await late;
    } finally {
      vi.unstubAllGlobals();
      vi.useRealTimers();
    }
  });

  it('takes the journeys of a service', { tags: 'long' }, async () => {
    const journeys = [{ id: '1', name: 'Welcome', event: 'signup', filter: null, firings: [] }];
    const server = createServer((request, response) => {
      response.statusCode = request.url === '/inspect/journeys' ? 200 : 404;
      response.end(JSON.stringify({ journeys }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await put(PROJECT);
    await run('--journeys', `http://127.0.0.1:${port}/inspect/journeys`);
    expect(await text('catalogue.md')).toContain('- *Welcome*, without a filter\n');
    await expect(run('--journeys', `http://127.0.0.1:${port}/other`)).rejects.toThrow('answered 404');
    server.close();
  });

  it('ends with 1 for a mark that does not fit', async () => {
    await put({ ...PROJECT, 'index.html': '\n<a data-clew-event="signup" data-clew-plan="gold">' });
    expect(await run()).toMatchObject({
      code: 1,
      warned: ['index.html:2: signup: payload.plan: expected "free" or "pro", got a string'],
    });
  });

  it('ends with 1 for a type of a package that is not installed', { tags: 'long' }, async () => {
    await put(PROJECT);
    await run('--json', 'before.json');
    await put({
      'src/tracker.ts': `import type { Plan } from 'plans'; ${TRACKER.replace("'free' | 'pro'", 'Plan; seats: Plan[]')}`,
    });
    const fault = 'TypeScript does not find the type. `npx tsc --noEmit` shows why';
    expect(await run('--diff', 'before.json')).toMatchObject({
      code: 1,
      warned: [`signup: payload.plan: ${fault}`, `signup: payload.seats[]: ${fault}`],
    });
    const map = TRACKER.replace(/export interface.*/, "import type { AppEvents } from 'events';");
    await put({ 'src/tracker.ts': map });
    await expect(run()).rejects.toThrow(`src/tracker.ts: the events of createTracker: ${fault}`);
    await put({ 'src/other.ts': TRACKER });
    expect((await run()).code).toBe(1);
  });

  it('names a type', { tags: 'long' }, async () => {
    await put({ 'events.ts': 'export interface Events { a: undefined }' });
    await run('--events', 'events.ts#Events');
    expect((await named())[0]).toBe('a');
  });

  it.each([
    ['no project', {}, [], 'no createTracker<Events> and no data-clew- attributes found'],
    ['a missing project', {}, ['--project', 'x.json'], 'x.json does not exist'],
    ['a wrong project', { 'x.json': '{ "include": [' }, ['--project', 'x.json'], 'x.json: '],
    ['a project that refers to a missing one', REFERRING, [], 'nope.json: Cannot read file'],
    ['no events', { 'tsconfig.json': PROJECT['tsconfig.json'], 'src/a.ts': '' }, [], 'no createTracker<Events>'],
    ['a type without a name', PROJECT, ['--events', 'src/tracker.ts'], '--events: expected <file>#<Type>'],
    ['a type that is missing', PROJECT, ['--events', 'src/tracker.ts#Other'], 'has no type Other'],
    ['an unknown option', PROJECT, ['--jsno', 'x'], '--jsno'],
    ['a catalogue that is none', PROJECT, ['--diff', 'tsconfig.json'], 'tsconfig.json: expected a catalogue'],
    ['journeys that are none', PROJECT, ['--journeys', 'tsconfig.json'], 'tsconfig.json: expected a list of journeys'],
  ])('refuses %s', async (_what, files, args, message) => {
    await put(files as Record<string, string>);
    await expect(run(...args)).rejects.toThrow(message);
  });
});

describe('the command', () => {
  const command = async (cwd: string, file: string, ...args: string[]) => {
    const { stdout, stderr, code } = await promisify(execFile)(process.execPath, [file, ...args], { cwd }).then(
      (output) => ({ ...output, code: 0 }),
      (error) => error as { stdout: string; stderr: string; code: number },
    );
    return { stdout, stderr, code };
  };

  it('of the package works', async () => {
    await put(PROJECT);
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    expect(await command(folder, join(root, 'dist/clew-command.js'), 'catalogue')).toEqual({
      stdout: 'catalogue.json and catalogue.md have 6 events\n',
      stderr: '',
      code: 0,
    });
  });

  it('names how to install TypeScript if it is missing', async () => {
    await put({
      ...PROJECT,
      'clew-command.js': await readFile(join(root, 'dist/clew-command.js'), 'utf8'),
      'package.json': '{"type":"module"}',
    });
    expect(await command(folder, 'clew-command.js', 'catalogue')).toEqual({
      stdout: '',
      stderr:
        'clew catalogue: typescript 5 or 6 is missing, and reads the types of your events: npm install --save-dev typescript@6, or beside TypeScript 7: npm install --save-dev @typescript/typescript6\n',
      code: 2,
    });
  });

  it('shows its options', async () => {
    const file = join(root, 'dist/clew-command.js');
    expect((await command(folder, file, '--help')).stdout).toContain('--journeys');
    expect(await command(folder, file, 'other')).toMatchObject({ stdout: '', code: 2 });
  });
});
