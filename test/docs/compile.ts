import { dirname, join } from 'node:path';
import ts from 'typescript';
import { parse } from 'vue/compiler-sfc';
import { type Block, root } from './markdown.ts';

/** TypeScript's usual strictness, as in a new project of a reader's. */
const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  moduleDetection: ts.ModuleDetectionKind.Force,
  lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  types: ['node'],
  jsx: ts.JsxEmit.ReactJSX,
  experimentalDecorators: true,
  strict: true,
  allowJs: true,
  checkJs: true,
  skipLibCheck: true,
  noEmit: true,
};
const AMBIENT = join(import.meta.dirname, 'ambient.d.ts');
/** Errors about an implicit `any`, which JavaScript cannot avoid. */
const IMPLICIT_ANY = [7005, 7006, 7019, 7031, 7034];

/** A part of a block that is code, as a file of its own. */
interface Source extends Block {
  path: string;
}

/** The script of a single-file component, with the line where it begins. Without a script, its text is empty. */
const scriptOf = (block: Block): Block => {
  const { scriptSetup, script } = parse(block.text, { ignoreEmpty: false }).descriptor;
  const found = scriptSetup ?? script;
  const line = block.line + (found?.loc.start.line ?? 1) - 1;
  return { ...block, lang: found?.lang ?? 'js', text: found?.content ?? '', line };
};

/** The inline scripts of HTML, which run one after the other. */
export const inlineScriptsOf = (block: Block): Block[] =>
  [...block.text.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map((found) => {
    const before = block.text.slice(0, found.index + found[0].indexOf('>') + 1);
    return { ...block, lang: 'js', text: found[1] ?? '', line: block.line + before.split('\n').length - 1 };
  });

const partsOf = (block: Block): Block[] => {
  if (/^[jt]sx?$/.test(block.lang)) return [block];
  if (/^(vue|svelte)$/.test(block.lang)) return [scriptOf(block)];
  return block.lang === 'html' ? inlineScriptsOf(block) : [];
};

/** The folder of a component or an HTML file with a first line such as `<!-- src/App.vue -->`, which it imports from. */
const folderOf = ({ text }: Block): string => /^<!-- ([\w./]+)\/[\w+.-]+ -->\n/.exec(text)?.[1] ?? '';

/**
 * A page's blocks are files in a folder of the page. A first line such as `// tracker.ts` is a file's name: other blocks of
 * the page import from it.
 */
const sourceOf = ([block, folder]: [Block, folder: string], index: number): Source => {
  const [, named] = /^\/\/ ([\w./[\]-]+\.[jt]sx?)\n/.exec(block.text) ?? [];
  const name = named ?? `block-${block.line}-${index}.${block.lang}`;
  return { ...block, path: join(root, 'docs-blocks', block.file.replaceAll('/', '-'), named ? '' : folder, name) };
};

/** Has the sources as files in the package that are not on the disk, so that `clew/react` resolves by the package's exports. */
const hostOf = (sources: ReadonlyMap<string, Source>): ts.CompilerHost => {
  const host = ts.createCompilerHost(OPTIONS);
  const folders = new Set([...sources.keys()].map(dirname));
  return {
    ...host,
    // Like tsc, this ignores types in the comments of libraries.
    jsDocParsingMode: ts.JSDocParsingMode.ParseForTypeErrors,
    fileExists: (path) => sources.has(path) || host.fileExists(path),
    directoryExists: (path) => folders.has(path) || (host.directoryExists?.(path) ?? true),
    readFile: (path) => sources.get(path)?.text ?? host.readFile(path),
    getSourceFile: (path, ...more) => {
      const source = sources.get(path);
      return source ? ts.createSourceFile(path, source.text, more[0], true) : host.getSourceFile(path, ...more);
    },
  };
};

/** The faults that TypeScript finds in blocks, such as `docs/react.md:12: …`. One program compiles all blocks. */
export const compile = (blocks: readonly Block[]): string[] => {
  const sources = new Map<string, Source>();
  const parts = blocks.flatMap((block) => partsOf(block).map((part): [Block, string] => [part, folderOf(block)]));
  for (const source of parts.map(sourceOf)) {
    if (sources.has(source.path)) throw new Error(`${source.file}:${source.line}: a second file of that name`);
    sources.set(source.path, source);
  }
  const program = ts.createProgram([AMBIENT, ...sources.keys()], OPTIONS, hostOf(sources));
  const files = [AMBIENT, ...sources.keys()].map((path) => program.getSourceFile(path));
  return files.flatMap((file) =>
    [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]
      .filter(({ code }) => !(file?.fileName.endsWith('.js') && IMPLICIT_ANY.includes(code)))
      .map(({ start = 0, messageText }) => {
        const source = sources.get(file?.fileName ?? '');
        const line = (file?.getLineAndCharacterOfPosition(start).line ?? 0) + (source?.line ?? 1);
        return `${source?.file ?? AMBIENT}:${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
      }),
  );
};
