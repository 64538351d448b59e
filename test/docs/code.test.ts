import { beforeAll, describe, expect, it } from 'vitest';
import { compileTemplate, parse } from 'vue/compiler-sfc';
import { compile } from './compile.ts';
import { examples } from './examples.ts';
import { type Block, blocks, placeOf } from './markdown.ts';

const LANGUAGES = [
  'bash',
  'csharp',
  'go',
  'html',
  'java',
  'js',
  'json',
  'php',
  'python',
  'ruby',
  'sh',
  'sql',
  'svelte',
  'text',
  'ts',
  'tsx',
  'vue',
];

/** The types that `next build` demands of the pages' route handlers. */
const routes = blocks
  .filter(({ text }) => text.startsWith('// app/clew/[...path]/route.ts\n'))
  .map((block) => ({
    ...block,
    text: `import { OPTIONS, POST } from './app/clew/[...path]/route';
      type Handler = (request: Request, context: { params: Promise<{ path: string[] }> }) => Promise<Response>;
      export const handlers: Handler[] = [OPTIONS, POST];`,
  }));

it('every block of code has a language that a test checks', () => {
  expect(blocks.filter(({ lang }) => !LANGUAGES.includes(lang)).map(placeOf)).toEqual([]);
});

describe('TypeScript and JavaScript, also in HTML and components', () => {
  /** Blocks that must not compile, ten lines apart, and the faults that TypeScript reports. */
  const wrong: [lang: string, text: string, said: RegExp][] = [
    ['ts', "tracker.track('sign up', { plan: 'pro' });", /'"sign up"' is not assignable/],
    ['ts', "import { createTracker } from 'clew';\n\ncreateTracker({ baseURL: '/clew' });", /wrong.md:12: .*baseURL/],
    ['ts', "import { createRelay } from 'clew/relay';\ncreateRelay({ secret: 'x' });", /'secret' does not exist/],
    [
      'tsx',
      "import { ClewProvider } from 'clew/react';\nexport const a = <ClewProvider>a</ClewProvider>;",
      /'tracker' is missing/,
    ],
    ['ts', "import { track } from 'clew';\ntrack('signup');", /has no exported member/],
    ['js', "tracker.identity('ann@example.com');", /'identity' does not exist/],
    ['html', "<p>Hello</p>\n<script>\n  clew('trak', 'signup');\n</script>", /wrong.md:62: .*"trak"/],
    ['vue', '<script setup lang="ts">\ntracker.track("signup", { plan: "gold" });\n</script>', /wrong.md:71: .*"gold"/],
    ['ts', 'const half = (', /expected/],
  ];
  const all = wrong.map(([lang, text], i): Block => ({ file: 'wrong.md', line: i * 10, lang, text }));
  let told: string[] = [];
  beforeAll(() => {
    // One program for all, since the libraries' types cost more than the blocks.
    told = compile([...blocks, ...routes, ...examples, ...all]);
  }, 120_000);

  it('compile against the types of the built package', () => {
    expect(told.filter((fault) => !/^(wrong\.md|src\/)/.test(fault))).toEqual([]);
  });

  it('of the route handlers of Next.js are checked as its build does', () => {
    expect(routes.map(({ file }) => file)).toEqual(['docs/relay.md', 'docs/start-next.md']);
  });

  it('compile in the examples of docstrings', () => {
    expect(examples.length).toBeGreaterThan(15);
    expect(told.filter((fault) => fault.startsWith('src/'))).toEqual([]);
  });

  it.each(wrong)('fail to compile with an error put in: %s, %s', (_, text, said) => {
    const line = all.find((block) => block.text === text)?.line ?? 0;
    const mine = told.filter((fault) => Math.floor(Number(/^wrong.md:(\d+)/.exec(fault)?.[1]) / 10) === line / 10);
    expect(mine.join('\n')).toMatch(said);
  });
});

it('templates of components compile', () => {
  const faults = blocks
    .filter(({ lang }) => lang === 'vue')
    .flatMap((block) => {
      const { descriptor } = parse(block.text);
      const isWhole = descriptor.template ?? descriptor.scriptSetup ?? descriptor.script;
      const source = isWhole ? (descriptor.template?.content ?? '') : block.text;
      const { errors } = compileTemplate({ source, filename: block.file, id: 'docs' });
      return errors.map((error) => `${placeOf(block)}: ${error}`);
    });
  expect(faults).toEqual([]);
});

it('JSON blocks parse', () => {
  for (const block of blocks.filter(({ lang }) => lang === 'json'))
    expect(() => JSON.parse(block.text), placeOf(block)).not.toThrow();
});
