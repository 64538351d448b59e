import { writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { chromium } from '@playwright/test';
import { findChromium } from '../../e2e/support/chromium.ts';
import { startDemo } from '../../e2e/support/demo.ts';
import { drawOutage } from './draw.ts';
import { recordRun } from './record.ts';

/** Makes docs/images/outage.svg from a run in a real browser: the service fails for a while, and then everything arrives. */

const file = join(import.meta.dirname, '../../docs/images/outage.svg');
/** Most bytes of the picture, because readers of the README load it. */
const MOST_BYTES = 40_000;

const executablePath = findChromium();
const demo = await startDemo();
const browser = await chromium.launch({ ...(executablePath && { executablePath }), args: ['--no-sandbox'] });
try {
  const picture = drawOutage(await recordRun(browser, demo));
  if (picture.length > MOST_BYTES) throw new Error(`the picture has ${picture.length} bytes`);
  await writeFile(file, picture);
  console.log(`${relative('', file)}: ${Math.round(picture.length / 1000)} kB`);
} finally {
  await browser.close();
  await demo.stop();
}
