import { printedHashes } from './support/hashes.ts';
import { type Site, startSite } from './support/site.ts';
import { test as base, expect, stub, type Visitor } from './support/test.ts';

const test = base.extend<{ site: Site }>({
  site: async ({ demo }, use) => {
    const site = await startSite(demo);
    await use(site);
    await site.stop();
  },
});

/** Forbids other scripts than these, `eval`, and markup from text, also by a policy of Trusted Types. */
const policyOf = (...scripts: string[]) =>
  [
    "default-src 'none'",
    `script-src ${scripts.join(' ')}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');

const pageOf = async (tag: string) =>
  `<!doctype html><html lang="en"><title>Strict</title><script>${await stub()}</script>${tag}
  <button data-clew-event="signup_clicked" data-clew-plan="pro">Sign up</button>`;
const DATA =
  'data-base-url="/clew" data-page-views data-clicks="outbound downloads" data-context data-cookie-domain="auto"';

/** Returns a function that reads the violations of the page's policy so far. */
const watchViolations = async ({ page }: Visitor) => {
  await page.addInitScript(() => {
    const violations: string[] = [];
    Object.assign(window, { violations });
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      violations.push(`${violatedDirective} ${blockedURI}`);
    });
  });
  return () => page.evaluate(() => (window as unknown as { violations: string[] }).violations);
};

for (const isElsewhere of [false, true]) {
  const where = isElsewhere ? 'from another host, named in the policy' : 'by its hash only';
  test(`a strict policy allows the stub by hash and clew.js ${where}, and reports no violation`, {
    tag: isElsewhere ? '@long' : [],
  }, async ({ demo, site, visitor }) => {
    const hashes = await printedHashes();
    const origin = isElsewhere ? site.address.replace('127.0.0.1', 'localhost') : '';
    const tag = `<script async src="${origin}/dist/clew.js" integrity="${hashes.integrity}" crossorigin="anonymous" ${DATA}></script>`;
    const policy = policyOf(`'${hashes.stub}'`, origin || `'${hashes.integrity}'`);
    site.pages['/strict'] = { html: await pageOf(tag), headers: { 'Content-Security-Policy': policy } };
    const violations = await watchViolations(visitor);
    const { page } = visitor;

    await page.goto(`${site.address}/strict`);
    await page.locator('button').click();
    await page.evaluate(() => history.pushState({}, '', '/next'));
    await visitor.clew('identify', 'ann@example.com');
    await expect.poll(async () => (await demo.events()).length).toBe(4);
    await visitor.clew('track', 'late');
    expect(await violations()).toEqual([]);
    await page.goto(`${site.address}/blank`);
    await expect.poll(() => demo.events('late')).toHaveLength(1);
    const names = (await demo.events()).map(({ event }) => event);
    expect(names.toSorted()).toEqual(['$identify', 'late', 'page_view', 'page_view', 'signup_clicked']);
  });
}

test('a clew.js that fails the integrity check does not run, and the page continues', { tag: '@long' }, async ({
  context,
  site,
}) => {
  const { stub: hash, integrity } = await printedHashes();
  const other = `sha384-${'A'.repeat(64)}`;
  const tag = `<script async src="/dist/clew.js" integrity="${other}" crossorigin="anonymous" ${DATA}></script>`;
  const headers = { 'Content-Security-Policy': policyOf(`'${hash}'`, `'${integrity}'`, `'${other}'`) };
  site.pages['/strict'] = { html: await pageOf(tag), headers };
  const page = await context.newPage();
  const said = page.waitForEvent('console', (message) => message.text().includes('integrity'));
  await page.goto(`${site.address}/strict`);
  await said;
  await page.locator('button').click();
  expect(await page.evaluate(() => [typeof window.clew, 'q' in window.clew])).toEqual(['function', true]);
});
