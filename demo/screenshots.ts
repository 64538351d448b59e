import { mkdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type Browser, chromium, type FrameLocator, type Page } from '@playwright/test';
import { findChromium } from '../e2e/support/chromium.ts';
import { type Demo, startDemo } from '../e2e/support/demo.ts';

/** Makes the pictures in docs/screenshots, of a demo of its own: a visitor has just joined the club and fills a basket. */

const folder = join(import.meta.dirname, '../docs/screenshots');
/** A reader of the documentation loads them. */
const MOST_BYTES = 300_000;

interface Shot {
  name: string;
  colorScheme: 'light' | 'dark';
  viewport: { width: number; height: number };
  /** Pixels of the picture for one of the page. */
  scale: number;
}

const shots: Shot[] = [
  { name: 'demo-light', colorScheme: 'light', viewport: { width: 1440, height: 900 }, scale: 1.25 },
  { name: 'demo-dark', colorScheme: 'dark', viewport: { width: 1440, height: 900 }, scale: 1.25 },
  { name: 'demo-phone', colorScheme: 'light', viewport: { width: 390, height: 844 }, scale: 2 },
];

const arrived = (page: Page) => page.locator('#stations li.done', { hasText: 'Arrived' });

const play = async (page: Page, shop: FrameLocator) => {
  await shop.getByRole('link', { name: 'See the boxes' }).click();
  await shop.getByRole('link', { name: 'Choose Pro' }).click();
  await shop.getByRole('button', { name: 'Sign up' }).click();
  await page.getByText('fired 1 time').waitFor();
  await shop.getByRole('link', { name: 'Yarns', exact: true }).click();
  await shop.getByRole('button', { name: /Knossos Merino/ }).click();
  await arrived(page).waitFor();
  await shop.getByRole('button', { name: /Naxos Cotton/ }).click();
  await page.locator('#stations li.waiting').first().waitFor();
  await arrived(page).waitFor();
};

const shoot = async (browser: Browser, demo: Demo, { name, colorScheme, viewport, scale }: Shot) => {
  await demo.clear();
  const page = await browser.newPage({ viewport, colorScheme, deviceScaleFactor: scale, reducedMotion: 'reduce' });
  await page.goto(demo.address);
  const shop = page.frameLocator('#shop');
  await play(page, shop);
  await shop.getByRole('heading', { level: 1 }).scrollIntoViewIfNeeded();
  await shop.locator('html').evaluate((html) => html.scrollTo(0, 0));
  await page.evaluate(() => {
    window.scrollTo(0, 0);
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  });
  await page.mouse.move(0, 0);
  const path = join(folder, `${name}.png`);
  await page.screenshot({ path });
  await page.close();
  const { size } = await stat(path);
  if (size > MOST_BYTES) throw new Error(`${path} has ${size} bytes`);
  console.log(`${relative('', path)}: ${Math.round(size / 1000)} kB`);
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
