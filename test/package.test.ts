import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompressSync } from 'node:zlib';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import terser from '@rollup/plugin-terser';
import { publint } from 'publint';
import { rollup } from 'rollup';
import { parseAst } from 'rollup/parseAst';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** Tests of the files that ship: `dist`, as `npm run build` has left it. */

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const at = (path: string) => join(root, path);
const text = (path: string) => readFile(at(path), 'utf8');
/** Bytes that a visitor downloads. */
const brotli = (code: string) => brotliCompressSync(code).length;

interface Packed {
  files: { path: string }[];
}
type Conditions = string | { types?: string; default?: string };
interface Manifest {
  exports: Record<string, Conditions>;
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
  peerDependenciesMeta: Record<string, { optional: boolean }>;
  sideEffects: string[];
}

let folder: string;
let manifest: Manifest;
let paths: string[];
let scripts: string[];

beforeAll(async () => {
  if (!existsSync(at('dist/clew.js'))) throw new Error('there is no dist: run `npm run build` first');
  manifest = JSON.parse(await text('package.json'));
  folder = await mkdtemp(join(tmpdir(), 'clew-pack-'));
  // Without scripts, because `prepack` would rebuild `dist` while other tests use it.
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
  });
  const [packed] = JSON.parse(stdout) as [Packed];
  paths = packed.files.map(({ path }) => path);
  scripts = paths.filter((path) => path.endsWith('.js'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the package', () => {
  it('holds every file that package.json names, its licence and README', () => {
    const promised = Object.values(manifest.exports).flatMap((target) =>
      typeof target === 'string' ? [target] : [target.types, target.default],
    );
    expect(promised).not.toContain(undefined);
    expect(paths).toEqual(expect.arrayContaining(promised.map((path) => path?.slice('./'.length))));
    for (const name of ['LICENSE', 'README.md', 'CHANGELOG.md']) {
      if (existsSync(at(name))) expect(paths).toContain(name);
    }
  });

  it('holds no sources, tests or demo, and no intermediate file of the script-tag bundle', () => {
    const isExpected = (path: string) =>
      /^dist\/.*\.(js|d\.ts|js\.LICENSE\.txt)$/.test(path) ||
      /^(package\.json|LICENSE|README\.md|CHANGELOG\.md)$/.test(path);
    expect(paths.filter((path) => !isExpected(path))).toEqual([]);
    expect(paths.filter((path) => path.includes('snippet'))).toEqual([]);
  });

  it('holds no types of deleted sources', () => {
    const sourceOf = (path: string) => path.replace(/^dist\/(.*)\.d\.ts$/, 'src/$1.ts');
    const types = paths.filter((path) => path.endsWith('.d.ts'));
    expect(types.length).toBeGreaterThan(0);
    expect(types.filter((path) => !existsSync(at(sourceOf(path))))).toEqual([]);
  });

  it('holds every file that its scripts and types import', async () => {
    const missing: string[] = [];
    for (const path of paths.filter((file) => file.startsWith('dist/'))) {
      for (const [, from] of (await text(path)).matchAll(/(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g)) {
        const target = join(path, '..', from as string);
        const file = path.endsWith('.d.ts') ? target.replace(/\.js$/, '.d.ts') : target;
        if (!paths.includes(file)) missing.push(`${path}: ${from}`);
      }
    }
    expect(missing).toEqual([]);
  });

  it('resolves every entry to a file, and each entry except the script-tag files with types', () => {
    expect(Object.keys(manifest.exports)).toEqual(
      expect.arrayContaining([
        '.',
        './react',
        './vue',
        './service',
        './relay',
        './testing',
        './inspector',
        './consent',
        './plugins',
        './global',
        './clew.js',
        './stub.js',
      ]),
    );
    for (const [entry, target] of Object.entries(manifest.exports)) {
      if (typeof target === 'string') {
        expect(existsSync(at(target)), entry).toBe(true);
        expect(entry).toMatch(/^\.\/(clew\.js|stub\.js|package\.json)$/);
        continue;
      }
      expect(Object.keys(target)[0], `types come first in ${entry}`).toBe('types');
      for (const path of [target.types, target.default]) expect(existsSync(at(path ?? '')), entry).toBe(true);
    }
  });

  it('depends on uuid, idb-keyval and the framework of the imported entry only', async () => {
    expect(Object.keys(manifest.dependencies).toSorted()).toEqual(['idb-keyval', 'uuid']);
    const optional = { optional: true };
    // Only `clew-relay` uses bowser, isbot and redis, if variables ask for them. Only `clew catalogue` uses typescript.
    const peers = ['bowser', 'isbot', 'react', 'redis', 'typescript', 'vue'];
    expect(manifest.peerDependenciesMeta).toEqual(Object.fromEntries(peers.map((name) => [name, optional])));
    expect(Object.keys(manifest.peerDependencies).toSorted()).toEqual(peers);
    const imported = new Set<string>();
    for (const path of scripts) {
      for (const [, from] of (await text(path)).matchAll(/(?:from|import)\s*['"]([^.'"][^'"]*)['"]/g))
        imported.add(from as string);
    }
    // The commands run on Node.
    expect([...imported].toSorted()).toEqual([
      'idb-keyval',
      'node:fs',
      'node:fs/promises',
      'node:http',
      'node:module',
      'node:path',
      'node:timers/promises',
      'node:util',
      'react',
      'uuid',
      'vue',
    ]);
    // The bindings do not import the tracker. The app passes its own, so that a page never has a second tracker.
    const importsOf = async (file: string) =>
      [...(await text(`dist/${file}`)).matchAll(/from\s*['"]([^'"]+)['"]/g)].map(([, from]) => `${from}`);
    for (const name of ['react', 'vue']) {
      const shared = ['./chunks/address.js', './chunks/views.js'];
      expect((await importsOf(`${name}.js`)).toSorted()).toEqual([...shared, name]);
      expect(await importsOf('chunks/address.js')).toEqual([]);
      expect(await importsOf('chunks/views.js')).toEqual(['./prerender.js']);
      expect(await importsOf('chunks/prerender.js')).toEqual([]);
    }
  });

  it.each([
    ['react', 110],
    ['vue', 170],
  ])('has a thin binding for %s: under %i lines of code', async (name, most) => {
    const isCode = (line: string) => line.trim() !== '' && !/^\s*(\/\/|\/?\*)/.test(line);
    expect((await text(`dist/${name}.js`)).split('\n').filter(isCode).length).toBeLessThan(most);
  });

  it('has an inspector without imports, which no other script imports', async () => {
    const importing = /(?:from|import)\s*['"]([^'"]+)['"]/g;
    expect([...(await text('dist/inspector.js')).matchAll(importing)]).toEqual([]);
    for (const path of scripts.filter((file) => file !== 'dist/inspector.js'))
      expect(await text(path), path).not.toMatch(/inspector|litElement|uPlot/i);
  });

  it('has its plugins in one file, which a page with the script tag imports', async () => {
    expect(await text('dist/plugins.js')).not.toMatch(/\bimport\b/);
  });

  it('declares side effects for the script-tag files and the inspector element only', () => {
    expect(manifest.sideEffects.toSorted()).toEqual(['./dist/clew.js', './dist/inspector.js', './dist/stub.js']);
  });

  it('passes publint without a message', async () => {
    const { messages } = await publint({ pkgDir: root, pack: false });
    expect(messages.filter(({ type }) => type !== 'suggestion')).toEqual([]);
  });
});

describe('an import on a server', () => {
  const evaluate = async (code: string) => {
    const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '--eval', code], { cwd: root });
    expect(stderr).toBe('');
    return JSON.parse(stdout);
  };

  it('of the tracker works, lets the process end, and leaves no global behind', async () => {
    const seen = await evaluate(`
      const before = Object.getOwnPropertyNames(globalThis);
      const { createTracker } = await import('clew');
      const tracker = createTracker({ baseUrl: '/clew' });
      tracker.track('signup', { plan: 'pro' });
      await tracker.flush();
      const left = Object.getOwnPropertyNames(globalThis).filter((name) => !before.includes(name));
      console.log(JSON.stringify({ left, stats: tracker.stats(), thread: await tracker.correlationValue() }));
    `);
    expect(seen).toEqual({ left: [], stats: { tracked: 0, delivered: 0, queued: 0, dropped: {} }, thread: '' });
  });

  it('of the test helper works, and lets Node end after stop()', async () => {
    const seen = await evaluate(`
      const { createTestTracker } = await import('clew/testing');
      const { tracker, events } = createTestTracker();
      tracker.track('signup', { plan: 'pro' });
      await tracker.flush();
      tracker.stop();
      console.log(JSON.stringify(events().map(({ payload }) => payload)));
    `);
    expect(seen).toEqual([{ plan: 'pro' }]);
  });

  it('of the plugins works, and they start with no tracker there', async () => {
    const seen = await evaluate(`
      const { engagement, exclude, forms, sessions } = await import('clew/plugins');
      const { createTracker } = await import('clew');
      const tracker = createTracker({ baseUrl: '/clew', plugins: [engagement(), exclude(), forms(), sessions()] });
      tracker.track('signup');
      console.log(JSON.stringify(tracker.stats().tracked));
    `);
    expect(seen).toBe(0);
  });

  it('of the inspector works and opens nothing', async () => {
    const seen = await evaluate(`
      const { inspect, inspectOnRequest } = await import('clew/inspector');
      const { createTracker } = await import('clew');
      const tracker = createTracker({ baseUrl: '/clew' });
      console.log(JSON.stringify([inspect(tracker)() ?? null, inspectOnRequest(tracker) ?? null]));
    `);
    expect(seen).toEqual([null, null]);
  });

  it('of service and relay works', async () => {
    const seen = await evaluate(`
      const { createService } = await import('clew/service');
      const { createRelay } = await import('clew/relay');
      const options = { baseUrl: 'https://service.example', apiKey: 'k' };
      const response = await createRelay(options)(new Request('https://www.example.com/clew/events/'));
      console.log(JSON.stringify([Object.keys(createService(options)), response.status]));
    `);
    expect(seen).toEqual([['upsertCustomer', 'sendBatch', 'sendEvent'], 405]);
  });
});

describe('size', () => {
  const build = async (names: string, file = 'dist/index.js', isMinified = true) => {
    const entry = 'virtual-app';
    const bundled = await rollup({
      input: entry,
      plugins: [
        {
          name: entry,
          resolveId: (id) => (id === entry ? id : null),
          load: (id) => (id === entry ? `export { ${names} } from ${JSON.stringify(at(file))};` : null),
        },
        nodeResolve({ browser: true }),
        isMinified && terser({ ecma: 2022, module: true }),
      ],
      onwarn(warning) {
        throw new Error(warning.message);
      },
    });
    const { output } = await bundled.generate({ format: 'es' });
    expect(output).toHaveLength(1);
    return output[0].code;
  };
  let core: Promise<string>;
  beforeAll(() => {
    core = build('createTracker');
  });
  /** An app that imports these names. The minifier takes most of the time, and the words of a module are there without it. */
  const bundle = (names: string): Promise<string> => build(names, undefined, false);

  it('of an app that imports only createTracker includes no page views and no clicks', async () => {
    const words = /currententrychange|pushState|utm_|auxclick|clewEvent|outbound_clicked/;
    expect(await core).not.toMatch(words);
    expect(await bundle('createTracker, pageViews, clicks')).toMatch(words);
  });

  const BUDGETS = { 'dist/clew.js': 26_050, 'dist/stub.js': 455, createTracker: 24_000 };

  /** The size of each plugin of `clew/plugins`, if an app imports no other one. */
  const PLUGINS = { engagement: 2_040, sessions: 880, exclude: 570, forms: 2_240, renewTokens: 850 };

  it('is the size in the README', async () => {
    const readme = await text('README.md');
    for (const [what, budget] of Object.entries({ ...BUDGETS, ...PLUGINS }))
      expect(readme).toMatch(new RegExp(`^\\| \`${what}\`.*\\| under ${budget.toLocaleString('en')} bytes`, 'm'));
  });

  it.each(Object.entries(BUDGETS).slice(0, 2))('of %s is under %i bytes (brotli)', async (path, budget) => {
    const bytes = brotli(await text(path));
    console.log(`${path}: ${bytes} bytes brotli`);
    expect(bytes).toBeLessThan(budget);
  });

  it(`of createTracker in an app, with uuid and idb-keyval, is under ${BUDGETS.createTracker} bytes (brotli)`, async () => {
    const bytes = brotli(await core);
    console.log(`npm core: ${bytes} bytes brotli`);
    expect(bytes).toBeLessThan(BUDGETS.createTracker);
  });

  it.each(Object.entries(PLUGINS))('of the plugin %s is under %i bytes (brotli)', async (name, budget) => {
    const bytes = brotli(await build(name, 'dist/plugins.js'));
    console.log(`${name}: ${bytes} bytes brotli`);
    expect(bytes).toBeLessThan(budget);
  });

  it('of a module that is not imported is zero', async () => {
    const traces = {
      redactUrls: 'mailto',
      checkEvents: '~standard',
      browserContext: 'timeZone',
      cookieDomain: 'SameSite',
      linkDomains: 'clew_link',
      firstTouch: 'first_touch',
    };
    expect(await core).not.toMatch(/page_left|sessionNumber|sampleRate|form_started|signature: token-expired/);
    for (const [name, trace] of Object.entries(traces)) {
      expect(await core).not.toContain(trace);
      expect(await bundle(name)).toContain(trace);
    }
  });
});

it('clew.js begins with the comment that makes V8 compile all functions at once', async () => {
  expect(await text('dist/clew.js')).toMatch(/^\/\/# allFunctionsCalledOnLoad\n/);
});

describe('no script of the package', () => {
  interface Node {
    type: string;
    name?: string;
    value?: unknown;
    callee?: Node;
  }
  /** Every node of a syntax tree. */
  const nodesOf = (tree: unknown): Node[] => {
    if (typeof tree !== 'object' || tree === null) return [];
    const below = Object.values(tree).flatMap(nodesOf);
    return 'type' in tree ? [tree as Node, ...below] : below;
  };
  const everywhere = async (isBad: (node: Node) => boolean) => {
    const found: string[] = [];
    for (const path of scripts) {
      const nodes = nodesOf(parseAst(await text(path)));
      // `clew/global` declares types only.
      expect(nodes.length, path).toBeGreaterThan(path === 'dist/global.js' ? 0 : 20);
      if (nodes.some(isBad)) found.push(path);
    }
    return found;
  };

  it('evaluates text as code', async () => {
    const isEvaluator = (node?: Node) => node?.type === 'Identifier' && /^(eval|Function)$/.test(node.name ?? '');
    expect(await everywhere((node) => isEvaluator(node.callee))).toEqual([]);
  });

  it('contains the names unload and beforeunload: the first forbids the back/forward cache', async () => {
    const words = ({ name, value }: Node) => [name, value, (value as { cooked?: unknown } | undefined)?.cooked];
    const isUnload = (word: unknown) => typeof word === 'string' && /^(on)?(before)?unload$/.test(word);
    expect(await everywhere((node) => words(node).some(isUnload))).toEqual([]);
  });
});
