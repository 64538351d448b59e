import { expect, it } from 'vitest';
import { compile } from './compile.ts';
import { type Block, read } from './markdown.ts';

const page = 'docs/migrating.md';
/** The objects whose methods the tables call, on one line, so that line numbers stay those of the page. */
const PRELUDE = [
  "import posthog from 'posthog-js'",
  "import mixpanel from 'mixpanel-browser'",
  "import { AnalyticsBrowser } from '@segment/analytics-next'",
  "import { createTracker, type Tracker } from 'clew'",
  'const analytics = new AnalyticsBrowser()',
  'export const used = [posthog, mixpanel, analytics, createTracker]',
  'declare const tracker: Tracker',
].join('; ');

/** Every call in the tables, as a program of its own. */
const calls = (line: string, number: number): Block[] =>
  [...line.matchAll(/`([^`]+)`/g)].flatMap(([, text = '']) =>
    line.startsWith('|') && /^(await )?(posthog|mixpanel|analytics|tracker|createTracker)[.(].*\)$/.test(text)
      ? [{ file: page, line: number, lang: 'ts', text: `${PRELUDE}; ${text};` }]
      : [],
  );

it('every call on the page exists in its SDK and in clew', { timeout: 120_000 }, () => {
  const blocks = read(page)
    .split('\n')
    .flatMap((line, index) => calls(line, index + 1));
  expect(blocks.length).toBeGreaterThan(60);
  expect(compile(blocks)).toEqual([]);
});
