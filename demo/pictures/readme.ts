import { readFile, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium } from '@playwright/test';
import { decode, encode } from 'fast-png';
import { marked } from 'marked';
import { findChromium } from '../../e2e/support/chromium.ts';

/** Makes pictures of the README as its readers see it: on a wide screen and on a phone. */

const root = join(import.meta.dirname, '../..');
const MOST_BYTES = 500_000;
/** Pixels of the column that GitHub gives to the text. */
const COLUMN = 1012;

const shots = [
  { width: 1280, margin: 32 },
  { width: 390, margin: 16 },
];

const css = await readFile(
  createRequire(import.meta.url).resolve('github-markdown-css/github-markdown-light.css'),
  'utf8',
);
const article = await marked.parse(await readFile(join(root, 'README.md'), 'utf8'));

/** Debian has none of the fonts that GitHub names. The letters of DejaVu Sans Condensed are as wide. */
const FONTS = '-apple-system, "Segoe UI", "DejaVu Sans Condensed", "Noto Sans", Helvetica, Arial, sans-serif';

const pageOf = (margin: number): string => `<!doctype html>
<html lang="en">
<base href="${pathToFileURL(root)}/">
<style>${css} body { margin: 0; } .markdown-body { font-family: ${FONTS}; box-sizing: border-box; max-width: ${COLUMN}px; margin: 0 auto; padding: ${margin}px; }</style>
<article class="markdown-body">${article}</article>`;

const shoot = async (browser: Browser, { width, margin }: (typeof shots)[number]) => {
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  await page.goto(pathToFileURL(join(root, 'LICENSE')).href);
  await page.setContent(pageOf(margin));
  const path = join(root, `docs/screenshots/readme-${width}.png`);
  // Chromium compresses for speed, so the picture is compressed again.
  await writeFile(path, encode(decode(await page.screenshot({ fullPage: true })), { zlib: { level: 9 } }));
  await page.close();
  const { size } = await stat(path);
  if (size > MOST_BYTES) throw new Error(`${path} has ${size} bytes`);
  console.log(`${relative('', path)}: ${Math.round(size / 1000)} kB`);
};

const executablePath = findChromium();
// Playwright's own reduced motion does not reach pictures. Without motion they show how their runs end.
const args = ['--no-sandbox', '--force-prefers-reduced-motion'];
const browser = await chromium.launch({ ...(executablePath && { executablePath }), args });
try {
  for (const shot of shots) await shoot(browser, shot);
} finally {
  await browser.close();
}
