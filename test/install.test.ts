import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { loadConfigFile } from 'rollup/loadConfigFile';
import ts from 'typescript';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blocksOf, read, root } from './docs/markdown.ts';

/** Installs the package that `npm pack` makes of `dist` into an empty Vite project, as in the README, without a registry. */

const run = promisify(execFile);
const readme = blocksOf('README.md');

let project: string;
const at = (path: string) => join(project, path);
const write = async (path: string, text: string) => {
  await mkdir(dirname(at(path)), { recursive: true });
  await writeFile(at(path), text);
};

beforeAll(async () => {
  project = await realpath(await mkdtemp(join(tmpdir(), 'clew-install-')));
  const packages = ['.', './node_modules/uuid', './node_modules/idb-keyval'];
  const packing = ['pack', '--json', '--ignore-scripts', '--pack-destination', project, ...packages];
  const { stdout } = await run('npm', packing, { cwd: root });
  const tarballs = (JSON.parse(stdout) as { filename: string }[]).map(({ filename }) => `./${filename}`);
  await write('package.json', JSON.stringify({ name: 'an-app', private: true, type: 'module' }));
  await run('npm', ['install', '--offline', '--ignore-scripts', ...tarballs], { cwd: project });
});
afterAll(() => rm(project, { recursive: true, force: true }));

/** Each parsed file, because parsing the standard library takes longer than everything else. */
const parsed = new Map<string, ts.SourceFile>();

/** The faults that TypeScript reports in files of the project, with the options of Vite's template. */
const faultsOf = (files: string[], types: string[] = []): string[] => {
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types,
    strict: true,
    verbatimModuleSyntax: true,
    // The package's own types are checked, too, so skipLibCheck stays off.
    skipDefaultLibCheck: true,
    noEmit: true,
  };
  const host = ts.createCompilerHost(options);
  const parse: typeof host.getSourceFile = (path, ...more) => {
    const source = parsed.get(path) ?? host.getSourceFile(path, ...more);
    if (source) parsed.set(path, source);
    return source;
  };
  const program = ts.createProgram(files.map(at), options, {
    ...host,
    getCurrentDirectory: () => project,
    getSourceFile: parse,
  });
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
};

describe('an empty Vite project with the package', () => {
  it('has clew, uuid and idb-keyval, without React and Vue', async () => {
    expect(read('README.md')).toMatch(/\bnpm install clew\b/);
    const installed = await readdir(at('node_modules'));
    expect(installed.filter((name) => !name.startsWith('.')).toSorted()).toEqual(['clew', 'idb-keyval', 'uuid']);
  });

  it("compiles and builds the README's app, and serves the script tag beside it", async () => {
    const app = readme.find(({ lang, text }) => lang === 'ts' && /from 'clew'/.test(text));
    const tag = readme.find(({ lang, text }) => lang === 'html' && text.includes('/assets/clew.js'));
    const stub = await readFile(at('node_modules/clew/dist/stub.js'), 'utf8');
    const html = tag?.text.replace('/* contents of dist/stub.js */', () => stub);
    await write('main.ts', app?.text ?? '');
    await write('index.html', `<!doctype html>\n${html}\n<script type="module" src="/main.ts"></script>\n`);
    await cp(at('node_modules/clew/dist/clew.js'), at('public/assets/clew.js'));

    expect(faultsOf(['main.ts'])).toEqual([]);
    await build({ root: project, configFile: false, logLevel: 'error' });
    const page = await readFile(at('dist/index.html'), 'utf8');
    expect(page).toContain(stub);
    expect(page).toMatch(/<script async src="\/assets\/clew\.js" data-base-url="\/clew"/);
    expect(await readFile(at('dist/assets/clew.js'), 'utf8')).toBe(read('dist/clew.js'));
    const [, bundle = ''] = /type="module"[^>]* src="\/(assets\/[^"]+)"/.exec(page) ?? [];
    expect(await readFile(at(`dist/${bundle}`), 'utf8')).toContain('/events/batch/');
  });
});

describe('the types of clew/global', () => {
  const CALLS = `
    clew('track', 'signup', { plan: 'pro' });
    window.clew('identify', 'ann@example.com', { name: 'Ann' }, { signature: 's' });
    const visitorId: string = await clew('correlationValue');
    const { queued }: { queued: number } = await clew('stats');
    const off: () => void = await clew('on', 'error', ({ message }) => console.warn(message));
    clew('on', 'dropped', ({ events, reason }) => console.warn(events.length, reason));
    clew('ready', async (tracker) => console.log(await tracker.correlationValue()));
    // @ts-expect-error: it needs a function
    clew('ready');
    inspect(clew);
    interface Customer { plan: 'free' | 'pro' }
    const customer: Customer = { plan: 'pro' };
    clew('identify', 'ann@example.com', customer, { signature: undefined });
    clew('setProperties', customer);
    clew('page', customer);
    clew('track', 'signup', customer);
    // @ts-expect-error: properties are no list
    clew('setProperties', [customer]);
    // @ts-expect-error: only one of the methods takes a boolean
    clew('consent' as 'consent' | 'identify', true);
    clew('reset' as 'reset' | 'stop');
    // @ts-expect-error: no method has this name
    clew('trak', 'signup');
    // @ts-expect-error: identify needs a primary key
    clew('identify');
    // @ts-expect-error: no signal has this name
    clew('on', 'lost', () => {});
    // @ts-expect-error: before the bundle loads the result is a promise
    clew('stats').queued;
    export { off, queued, visitorId };
  `;

  it('declare window.clew and clew by an import', async () => {
    await write('page.ts', `import 'clew/global';\nimport { inspect } from 'clew/inspector';\n${CALLS}`);
    expect(faultsOf(['page.ts'])).toEqual([]);
  });

  it('declare them by "types" in tsconfig.json', async () => {
    await write('page-types.ts', `import { inspect } from 'clew/inspector';\n${CALLS}`);
    expect(faultsOf(['page-types.ts'], ['clew/global'])).toEqual([]);
  });

  it('declare nothing in a program without the import', async () => {
    await write('page-without.ts', "import { inspect } from 'clew/inspector';\ninspect(clew);\nexport {};\n");
    expect(faultsOf(['page-without.ts'])).toEqual([expect.stringMatching(/Cannot find name 'clew'/)]);
  });

  it('are empty at run time', async () => {
    const code = "console.log(Object.keys(await import('clew/global')).length, 'clew' in globalThis)";
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code], { cwd: project });
    expect(stdout).toBe('0 false\n');
  });
});

// Node 20.19, 22.12 and newer.
it.skipIf(!process.features.require_module)(
  'require() loads the package in every Node that can require ES modules',
  async () => {
    const code = "console.log(typeof require('clew').createTracker, typeof require('clew/relay').createRelay)";
    const { stdout } = await run(process.execPath, ['--input-type=commonjs', '--eval', code], { cwd: project });
    expect(stdout).toBe('function function\n');
  },
);

describe('licences', () => {
  /** Packages whose code a bundle contains, and a sentence of each licence that comes with them. */
  const BUNDLED: Record<string, [name: string, sentence: string][]> = {
    'clew.js': [
      ['clew', 'Permission is hereby granted, free of charge'],
      ['idb-keyval', 'Copyright 2016, Jake Archibald'],
      ['idb-keyval', 'TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION'],
    ],
    'inspector.js': [
      ['clew', 'Permission is hereby granted, free of charge'],
      ['lit-html', 'Redistribution and use in source and binary forms'],
      ['lit-element', 'Copyright (c) 2017 Google LLC'],
      ['@lit/reactive-element', 'Neither the name of the copyright holder'],
      ['uplot', 'Leon Sorokin'],
    ],
  };

  it.each(Object.entries(BUNDLED))(
    '%s names a file beside it with the licences of the code in it',
    async (bundle, parts) => {
      const dist = at('node_modules/clew/dist');
      const code = await readFile(join(dist, bundle), 'utf8');
      expect(code.split('\n').slice(0, 2)).toContain(`/*! ${bundle}.LICENSE.txt */`);
      const sections = (await readFile(join(dist, `${bundle}.LICENSE.txt`), 'utf8')).split(/\n-{80}\n\n/);
      expect(sections.map((section) => section.split(' ')[0]).toSorted()).toEqual(
        [...new Set(parts.map(([name]) => name))].toSorted(),
      );
      for (const [name, sentence] of parts)
        expect(sections.find((section) => section.startsWith(`${name} `))).toContain(sentence);
    },
  );

  it('the other scripts contain no code of other packages', async () => {
    const { options } = await loadConfigFile(join(root, 'rollup.config.mjs'), {});
    // The npm build keeps its dependencies external, so a bundle with other packages is one that resolves them.
    const resolving = options.filter(({ plugins }) => JSON.stringify(plugins).includes('"node-resolve"'));
    expect(resolving.map(({ output: [output] }) => output?.file)).toEqual(
      Object.keys(BUNDLED).map((name) => `dist/${name}`),
    );
  });
});

it('unpkg and jsdelivr serve the script tag, and a release has provenance', () => {
  const { unpkg, jsdelivr, publishConfig, peerDependencies } = JSON.parse(read('package.json'));
  expect([unpkg, jsdelivr]).toEqual(['dist/clew.js', 'dist/clew.js']);
  expect(existsSync(join(root, unpkg))).toBe(true);
  expect(publishConfig).toEqual({ access: 'public', provenance: true });
  for (const range of Object.values(peerDependencies))
    expect(range, 'excludes untested majors').toMatch(/^>=\d+ <\d+$/);
});
