import type { Tab } from './engines/engine.ts';
import { expect, fault } from './support/fault.ts';
import { resetAfterRequest } from './support/faults.ts';
import { trackAndLeave } from './support/leave.ts';
import { before } from './support/page.ts';
import type { Stage } from './support/stage.ts';

/** Opens a page, and waits until an event is confirmed. From then on, the tracker can trust that a handover arrives. */
const prove = async (stage: Stage): Promise<Tab> => {
  const tab = await stage.visit({ path: '/page/proof' });
  await stage.track(tab);
  await expect.poll(() => tab.evaluate(() => window.told.delivered.length)).toBe(1);
  return tab;
};

fault(
  54,
  'a blocker refuses the script',
  async (stage) => {
    const { files } = stage.site;
    // No browser runs a script of this type.
    files.set('/dist/clew.js', { type: 'text/plain', body: '', headers: { 'X-Content-Type-Options': 'nosniff' } });
    const tab = await stage.visit({ wait: 'load' });
    await stage.track(tab, 5);
    expect(await tab.evaluate(() => (window.clew as unknown as { q: unknown[] }).q.length)).toBe(5 + 3);
    await trackAndLeave(stage, tab);
    await trackAndLeave(stage, tab, '/page/3');
    expect(stage.site.requests).toEqual([]);
    files.delete('/dist/clew.js');
  },
  { shownBy: ['e2e/snippet.spec.ts', 'test/stub.test.ts'] },
);

/** Blocks as content blockers do: a request fails, and a beacon seems to be accepted. */
const block = () => {
  window.fetch = () => Promise.reject(new TypeError('Failed to fetch'));
  const { sendBeacon } = navigator;
  navigator.sendBeacon = (url, body) => (String(url).includes('/clew/') ? true : sendBeacon.call(navigator, url, body));
  if ('fetchLater' in window) Object.assign(window, { fetchLater: () => ({ activated: false }) });
};

fault(54, 'a blocker refuses the endpoint', async (stage) => {
  const query = before(block);
  const tab = await stage.visit({ query });
  await stage.track(tab, 5);
  await tab.evaluate(() => window.clew('flush'));
  await trackAndLeave(stage, tab, `/page/2?${query}`);
  await trackAndLeave(stage, tab, `/page/3?${query}`);
  expect(stage.site.requests).toEqual([]);
  expect(await stage.stored(tab)).toBe(15);
});

fault(
  54,
  'the endpoint breaks each connection',
  async (stage) => {
    stage.site.fault = resetAfterRequest();
    const tab = await stage.visit();
    await stage.track(tab, 5);
    await tab.evaluate(() => window.clew('flush'));
    await trackAndLeave(stage, tab);
    expect(stage.site.requests.length).toBeGreaterThan(0);
  },
  { shownBy: ['test/courier/transport.test.ts', 'test/sim/walks.test.ts'] },
);

fault(
  54,
  'a blocker refuses the endpoint, and the page is left right after a confirmed request',
  async (stage) => {
    const query = before(block);
    const tab = await prove(stage);
    await stage.visit({ tab, query });
    await trackAndLeave(stage, tab);
  },
  { shownBy: ['sim/walk/actions.ts'] },
);

const policy = `csp=${encodeURIComponent("connect-src 'none'")}`;

fault(55, 'a policy without connect-src for the endpoint', async (stage) => {
  const tab = await stage.visit({ query: policy });
  await stage.track(tab, 5);
  await tab.evaluate(() => window.clew('flush'));
  await trackAndLeave(stage, tab, `/page/2?${policy}`);
  await stage.track(tab, 5);
  await tab.evaluate(() => window.clew('flush'));
  expect(stage.site.requests).toEqual([]);
  await expect.poll(() => stage.stored(tab)).toBe(15);
});

fault(
  55,
  'a policy without connect-src, and the page is left right after a confirmed request',
  async (stage) => {
    const tab = await prove(stage);
    await stage.visit({ tab, query: policy });
    await trackAndLeave(stage, tab);
  },
  { shownBy: ['sim/walk/actions.ts'] },
);

fault(
  56,
  'strict policy with nonce and Trusted Types',
  async (stage) => {
    const directives = [
      "default-src 'none'",
      "script-src 'nonce-page' 'strict-dynamic'",
      "connect-src 'self'",
      'img-src data:',
      "base-uri 'none'",
      "form-action 'self'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ];
    const watchViolations = () => {
      const report = ({ violatedDirective, blockedURI }: SecurityPolicyViolationEvent) =>
        console.error(`policy: ${violatedDirective} ${blockedURI}`);
      document.addEventListener('securitypolicyviolation', report);
    };
    const query = `csp=${encodeURIComponent(directives.join('; '))}&${before(watchViolations)}`;
    const tab = await stage.visit({ query });
    // The policy is in force.
    expect(await tab.evaluate(() => document.querySelector('script')?.nonce)).toBe('page');
    await stage.track(tab, 20);
    await expect.poll(() => tab.evaluate(() => window.told.delivered.length)).toBe(20);
    await trackAndLeave(stage, tab, `/page/2?${query}`);
    await stage.track(tab, 5);
  },
  { shownBy: ['e2e/snippet.spec.ts'] },
);
