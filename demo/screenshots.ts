import { mkdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type Browser, chromium, type Page } from '@playwright/test';
import { findChromium } from '../e2e/support/chromium.ts';
import { type Demo, startDemo } from '../e2e/support/demo.ts';

/** Makes the pictures in docs/screenshots, of a demo of its own: at rest, and while the service fails. */

const folder = join(import.meta.dirname, '../docs/screenshots');
/** Most bytes of a picture, because readers of the documentation load it. */
const MOST_BYTES = 300_000;

interface Shot {
  name: string;
  viewport: { width: number; height: number };
  /** Pixels of the picture for one of the page. */
  scale: number;
}

const shots: Shot[] = [
  { name: 'demo-1280', viewport: { width: 1280, height: 900 }, scale: 1.25 },
  { name: 'demo-390', viewport: { width: 390, height: 844 }, scale: 2 },
];

/** How many events wait in the picture of the fault. */
const WAITING = 12;

const save = async (page: Page, name: string) => {
  const path = join(folder, `${name}.png`);
  await page.screenshot({ path });
  const { size } = await stat(path);
  if (size > MOST_BYTES) throw new Error(`${path} has ${size} bytes`);
  console.log(`${relative('', path)}: ${Math.round(size / 1000)} kB`);
};

const shoot = async (browser: Browser, demo: Demo, { name, viewport, scale }: Shot) => {
  await demo.clear();
  const page = await browser.newPage({ viewport, deviceScaleFactor: scale, reducedMotion: 'reduce' });
  await page.goto(demo.address);
  await page.locator('#stations li.done', { hasText: 'Arrived' }).waitFor();
  await save(page, name);
  await page.getByRole('button', { name: 'Break the service' }).click();
  await page.mouse.move(0, 0);
  await page.locator('#outage-numbers .waiting dd').getByText(String(WAITING), { exact: true }).waitFor();
  await save(page, `${name}-fault`);
  await page.locator('[data-phase=done]').waitFor();
  await page.close();
};

await mkdir(folder, { recursive: true });
const executablePath = findChromium();
const demo = await startDemo();
const browser = await chromium.launch({ ...(executablePath && { executablePath }), args: ['--no-sandbox'] });
try {
  for (const shot of shots) await shoot(browser, demo, shot);
} finally {
  await browser.close();
  await demo.stop();
}
