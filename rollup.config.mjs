import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import terser from '@rollup/plugin-terser';
import typescript from '@rollup/plugin-typescript';
import ts from 'typescript';

/** A warning is a defect: an unresolved import would become an undefined global, and a snippet dead on arrival. */
const onwarn = (warning) => {
  // `clew/global` declares types only.
  if (warning.code === 'EMPTY_BUNDLE' && warning.names?.join() === 'global') return;
  throw Object.assign(new Error(), warning);
};

/**
 * Names of properties that may have another name in a bundle. The sources declare them, and none of these holds:
 *
 * - The name is public: a type has it that can be reached from what `entries` export.
 * - A value with the name is used as `any`, `unknown` or `object`, for example as JSON, as a message or as stored data.
 * - A value of such a type, or with a property of the browser's, gets the name by `as`.
 * - The sources also use the name for a property that they do not declare.
 *
 * @param root the folder with `tsconfig.json` and `src`
 * @param entries files in `src`. With their imports, they are all the sources of the bundle.
 * @param host reads the files. Default: from the disk
 */
export const internalNames = (root, entries, host) => {
  const { options } = ts.getParsedCommandLineOfConfigFile(join(root, 'tsconfig.json'), {}, ts.sys);
  const paths = entries.map((name) => join(root, 'src', name));
  const program = ts.createProgram(paths, options, host);
  const checker = program.getTypeChecker();
  const typeOf = (node) => checker.getTypeAtLocation(node);
  const isSource = ({ fileName }) => fileName.startsWith(join(root, 'src'));
  const isOurs = (symbol) => !!symbol?.declarations?.every((node) => isSource(node.getSourceFile()));
  /** The members of a union or an intersection. */
  const partsOf = (type) => type.types ?? [type];
  const propertiesOf = (type) => partsOf(type).flatMap((part) => part.getProperties());
  const { Any, Unknown, NonPrimitive, NumberLike } = ts.TypeFlags;
  /** Whether a value of this type may have properties that the type does not name. */
  const isOpen = (type) =>
    partsOf(type).some((part) => part.flags & (Any | Unknown | NonPrimitive) || part.getStringIndexType());

  const declared = new Set();
  const kept = new Set();
  const seen = new Set();
  /** Keeps all names that can be reached from this type. */
  const keepAll = (type) => {
    if (!type || seen.has(type)) return;
    seen.add(type);
    const own = type.getProperties().filter(isOurs);
    for (const { name } of own) kept.add(name);
    const calls = [...type.getCallSignatures(), ...type.getConstructSignatures()];
    const symbols = [...own, ...calls.flatMap((call) => call.parameters)];
    for (const inner of [
      ...partsOf(type),
      ...symbols.map((symbol) => checker.getTypeOfSymbol(symbol)),
      ...calls.map((call) => call.getReturnType()),
      ...checker.getIndexInfosOfType(type).map((index) => index.type),
      ...(type.objectFlags & ts.ObjectFlags.Reference ? checker.getTypeArguments(type) : []),
      ...(type.aliasTypeArguments ?? []),
      checker.getBaseConstraintOfType(type),
    ])
      keepAll(inner);
  };
  /** A value of the first type is used as one of the second type. */
  const pass = (from, to) => {
    if (from === to) return;
    if (isOpen(to)) keepAll(from);
    if (isOpen(from)) keepAll(to);
    const properties = [...propertiesOf(from), ...propertiesOf(to)];
    const foreign = new Set(properties.filter((property) => !isOurs(property)).map(({ name }) => name));
    for (const { name } of properties.filter(isOurs)) if (foreign.has(name)) kept.add(name);
  };
  const visit = (node) => {
    const { parent } = node;
    if ((ts.isTypeElement(node) || ts.isObjectLiteralElement(node)) && node.name) declared.add(node.name.text);
    if (ts.isPropertyAccessExpression(node) && !isOurs(checker.getSymbolAtLocation(node.name)))
      kept.add(node.name.text);
    if (ts.isBindingElement(node) && ts.isObjectBindingPattern(parent) && !node.dotDotDotToken) {
      const { text } = node.propertyName ?? node.name;
      if (!isOurs(propertiesOf(typeOf(parent)).find(({ name }) => name === text))) kept.add(text);
    }
    // Computed names.
    if (ts.isElementAccessExpression(node) && !(typeOf(node.argumentExpression).flags & NumberLike))
      keepAll(typeOf(node.expression));
    if (node.operatorToken?.kind === ts.SyntaxKind.InKeyword) keepAll(typeOf(node.right));
    if (ts.isCallExpression(node)) node.typeArguments?.map(typeOf).forEach(keepAll);
    if (ts.isAsExpression(node)) {
      const from = typeOf(node.expression);
      pass(from, typeOf(node));
      if (partsOf(from).some(({ symbol }) => symbol && !isOurs(symbol))) keepAll(typeOf(node));
    }
    // A pattern expects nothing of the value that it takes apart.
    const expected = ts.isExpression(node) && !parent.name?.elements && checker.getContextualType(node);
    if (expected) pass(typeOf(node), expected);
    ts.forEachChild(node, visit);
  };

  const modules = paths.map((path) => checker.getSymbolAtLocation(program.getSourceFile(path)));
  for (const symbol of modules.flatMap((entry) => checker.getExportsOfModule(entry))) {
    const original = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    keepAll(checker.getDeclaredTypeOfSymbol(original));
    keepAll(checker.getTypeOfSymbol(original));
  }
  program.getSourceFiles().filter(isSource).forEach(visit);
  return [...declared].filter((name) => !kept.has(name));
};

/**
 * uuid's v4 without arguments, because clew passes none. `crypto.randomUUID` is missing on plain http. A random digit replaces
 * each 0, 1 and 8. The 1 sets the version and the 8 sets the variant (RFC 9562, section 5.4).
 */
const shortUuid = {
  name: 'short-uuid',
  load: (id) =>
    /uuid\/dist\/v4\.js$/.test(id)
      ? {
          code: `export default () =>
          crypto.randomUUID?.() ??
          '10000000-1000-4000-8000-100000000000'.replace(/[018]/g, (digit) =>
            (digit ^ ((crypto.getRandomValues(new Uint8Array(1))[0] & 15) >> (digit / 4))).toString(16));`,
          meta: { isOwn: true },
        }
      : null,
};

/**
 * On import, uPlot adds listeners to the page for its cursor. The inspector's chart has no cursor, so this removes them. The
 * loops of uPlot also copy inherited properties, without end if a page has added an object to `Object.prototype`.
 */
const quietPlot = {
  name: 'quiet-plot',
  transform(code, id) {
    if (!/uPlot\.esm\.js$/.test(id)) return null;
    const quiet = code.replace(/\nif \(domEnv\) \{\s+on\(resize, win.+?\n\}/s, '');
    if (quiet === code) throw new Error('uPlot has changed: where does it listen now?');
    const own = quiet.replace(/(for \((?:let|var) \w+) in ([\w.]+)\)/g, '$1 of Object.keys($2 ?? {}))');
    if (own === quiet) throw new Error('uPlot has changed: how does it copy its options now?');
    return { code: own, map: null };
  },
};

/** Lit's builds for Node import a shim of the page. In a page they use the page itself. On a server nothing opens the inspector. */
const noShim = {
  name: 'no-shim',
  load: (id) =>
    /ssr-dom-shim\/index\.js$/.test(id)
      ? {
          code: 'export const { HTMLElement = class {}, customElements } = globalThis;',
          meta: { isOwn: true },
        }
      : null,
};

/** Bundled packages keep the notices that their licences ask for. */
const format = { comments: /@license|copyright/i };

/** One keyword for both kinds of declaration is fewer bytes. TypeScript has checked that no constant changes. */
const letForConst = (context) => (file) => {
  const visit = (node) => {
    const visited = ts.visitEachChild(node, visit, context);
    return ts.isVariableDeclarationList(visited)
      ? context.factory.createVariableDeclarationList(visited.declarations, ts.NodeFlags.Let)
      : visited;
  };
  return ts.visitNode(file, visit);
};

const minified = { ecma: 2022, module: true, compress: { inline: 1 } };
let names;

/** Replaces the names of internal properties, except those that the code of a bundled package uses, too. */
const mangle = {
  name: 'mangle',
  renderChunk(code, chunk, output) {
    names ??= internalNames(import.meta.dirname, ['index.ts', 'wire.ts', 'snippet.ts']);
    const foreign = Object.entries(chunk.modules).flatMap(([id, { code }]) =>
      id.startsWith(join(import.meta.dirname, 'src')) ? [] : (code?.match(/\w+/g) ?? []),
    );
    const free = names.filter((name) => !foreign.includes(name));
    const properties = { builtins: true, regex: new RegExp(`^(${free.join('|')})$`), keep_quoted: true };
    return terser({ ...minified, mangle: { properties } }).renderChunk(code, chunk, output);
  },
};

/**
 * Almost all of it runs as the page loads: what is compiled at once is not parsed twice, and no call waits for it.
 * https://github.com/WICG/explicit-javascript-compile-hints-file-based
 */
const hint = { name: 'hint', renderChunk: (code) => `//# allFunctionsCalledOnLoad\n${code}` };

const APACHE_END = 'END OF TERMS AND CONDITIONS';

/** A package's name, version, licence and the text of that licence. */
const licenceOf = async (folder) => {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const file = (await readdir(folder)).find((path) => /^licen[cs]e/i.test(path));
  if (!file) throw new Error(`${name} has no licence file`);
  const texts = [await readFile(join(folder, file), 'utf8')];
  // idb-keyval's file only links to the Apache licence, which asks for a copy: TypeScript ships one.
  if (license === 'Apache-2.0' && !texts[0].includes(APACHE_END)) {
    texts.push(await readFile('node_modules/typescript/LICENSE.txt', 'utf8'));
    if (!texts[1].includes(APACHE_END)) throw new Error('typescript/LICENSE.txt is not the Apache licence');
  }
  return [`${name} ${version} (${license})`, ...texts.map((text) => text.trim())].join('\n\n');
};

/**
 * MIT, BSD and Apache-2.0 require a copy of their texts with the code. The copy is in a file beside the bundle, and a comment
 * in the bundle names the file.
 */
const licences = {
  name: 'licences',
  async generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      const rendered = Object.keys(chunk.modules).filter((id) => chunk.modules[id].renderedLength > 0);
      const packages = rendered
        .filter((id) => !this.getModuleInfo(id)?.meta.isOwn)
        .map((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0] ?? '.');
      const texts = await Promise.all([...new Set(['.', ...packages])].map(licenceOf));
      const fileName = `${chunk.fileName}.LICENSE.txt`;
      this.emitFile({ type: 'asset', fileName, source: `${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n` });
      // The compile hint stays first: Chromium takes it before anything else only.
      chunk.code = chunk.code.replace(/^(\/\/#.*\n)?/, `$&/*! ${fileName} */\n`);
    }
  },
};

/** An inline script's hash is that of every character between its tags: the file has nothing that an editor may leave out. */
const trim = {
  name: 'trim',
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) chunk.code = chunk.code.trim();
  },
};

/** Logs the hashes for a strict Content-Security-Policy and for `integrity`. https://w3.org/TR/sri-2 */
const hashes = {
  name: 'hashes',
  async writeBundle() {
    const hash = async (kind, file) =>
      `${kind}-${createHash(kind)
        .update(await readFile(file))
        .digest('base64')}`;
    this.info(`dist/stub.js, inline, in script-src: '${await hash('sha256', 'dist/stub.js')}'`);
    this.info(`dist/clew.js: integrity="${await hash('sha384', 'dist/clew.js')}"`);
  },
};

/** TypeScript is compiled once, and again for `clew.js`: in the order of its modules it packs smaller than in that of the chunks. */
export default [
  {
    input: [
      'index',
      'react',
      'vue',
      'service',
      'relay',
      'testing',
      'inspector',
      'consent',
      'plugins',
      'global',
      'stub',
    ].map((name) => `src/${name}.ts`),
    external: ['uuid', 'idb-keyval', 'react', 'vue', /^lit\b/, 'uplot'],
    plugins: [typescript()],
    output: { dir: 'dist', chunkFileNames: 'chunks/[name].js' },
    onwarn,
  },
  {
    input: 'src/server/clew-relay.ts',
    external: [/^node:/, 'bowser', 'isbot', 'redis'],
    // The sources of commands use Node's own types.
    plugins: [typescript({ tsconfig: 'src/server/tsconfig.json' })],
    output: { file: 'dist/clew-relay.js' },
    onwarn,
  },
  {
    input: 'src/server/clew.ts',
    external: [/^node:/],
    plugins: [typescript({ tsconfig: 'src/server/tsconfig.json' })],
    output: { file: 'dist/clew-command.js' },
    onwarn,
  },
  {
    input: 'src/snippet.ts',
    plugins: [
      // The first build has checked the types.
      typescript({ compilerOptions: { declaration: false, noCheck: true }, transformers: { after: [letForConst] } }),
      shortUuid,
      nodeResolve({ browser: true }),
      // Mangled in the first place, it would come out larger.
      terser({ ...minified, mangle: false }),
      mangle,
      hint,
      licences,
    ],
    output: { file: 'dist/clew.js', format: 'iife' },
    onwarn,
  },
  {
    input: 'dist/inspector.js',
    // Lit's builds for Node run in browsers, too: an app that renders on a server may import the inspector there.
    plugins: [
      quietPlot,
      noShim,
      nodeResolve({ exportConditions: ['node'] }),
      terser({ ecma: 2022, module: true, format }),
      licences,
    ],
    output: { file: 'dist/inspector.js' },
    onwarn,
  },
  {
    // One file, which a page with the script tag imports. No plugin uses the part of the chunks that makes ids.
    input: 'dist/plugins.js',
    external: ['uuid'],
    treeshake: { moduleSideEffects: 'no-external' },
    plugins: [terser({ ecma: 2022, module: true })],
    output: { file: 'dist/plugins.js' },
    onwarn,
  },
  {
    input: 'dist/stub.js',
    plugins: [terser(minified), trim, hashes],
    output: { file: 'dist/stub.js', format: 'iife' },
    onwarn,
  },
];
