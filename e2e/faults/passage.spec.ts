import type { Handler } from './support/exchange.ts';
import { expect, fault } from './support/fault.ts';
import { answer, redirect } from './support/faults.ts';
import { attemptsOf, countAttempts, deliveredTo, stir, told } from './support/witness.ts';

/** Allows any origin, but not the header with the key. */
const keyless = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': 'Content-Type' };
const preflights: [string, Handler][] = [
  ['refused', answer(403)],
  ['without the header in its allow list', answer(204, { headers: keyless })],
];
for (const [how, handler] of preflights) {
  fault(
    22,
    `preflight ${how}, then fixed`,
    async (stage) => {
      // The same server under another name is another origin.
      const query = `data-base-url=${stage.site.origin.replace('localhost', '127.0.0.1')}&data-api-key=demo-key`;
      stage.site.fault = handler;
      const tab = await stage.visit({ query });
      await countAttempts(tab);
      await stage.track(tab, 5);
      await expect.poll(async () => (await attemptsOf(tab)).failed).toBeGreaterThan(0);
      // The page also leaves while preflights fail.
      await stage.visit({ tab, query, path: '/page/2' });
      await stage.track(tab, 5);
      await stir(tab);
      expect(await stage.stored(tab)).toBe(10);
      expect((await told(tab)).dropped).toEqual([]);
      expect(new Set(stage.site.requests.map(({ method }) => method))).toEqual(new Set(['OPTIONS']));
      stage.site.fault = undefined;
      await stir(tab);
      await expect.poll(() => stage.arrived()).toHaveLength(10);
      await expect.poll(() => stage.stored(tab)).toBe(0);
      expect(stage.site.requests.map(({ method }) => method)).toContain('POST');
    },
    { isLong: how !== 'refused' },
  );
}

const PORTAL = '/page/portal';
const login = { headers: { 'Content-Type': 'text/html' }, body: '<!doctype html><title>Log in</title>' };
const portals: [string, number, Handler][] = [
  ['302 to a 200 page', 302, redirect(302, PORTAL)],
  ['307', 307, redirect(307, PORTAL)],
  ['511', 511, answer(511, login)],
];
for (const [what, status, handler] of portals) {
  fault(
    23,
    `captive portal: ${what}`,
    async (stage) => {
      stage.site.files.set(PORTAL, { type: 'text/html', body: login.body });
      stage.site.fault = handler;
      const tab = await stage.visit();
      await stage.track(tab, 5);
      await expect.poll(() => stage.site.requests.map((request) => request.status)).toContain(status);
      // The page also leaves while the portal answers.
      await stage.visit({ tab, path: '/page/2' });
      await stage.track(tab, 5);
      await stir(tab);
      expect((await told(tab)).delivered).toEqual([]);
      expect(await stage.stored(tab)).toBe(10);
      expect(stage.site.stored.size).toBe(0);
      stage.site.fault = undefined;
      await expect
        .poll(async () => {
          await stir(tab);
          return deliveredTo(tab);
        })
        .toBe(5);
      expect(await stage.arrived()).toHaveLength(10);
    },
    { isLong: status !== 302 },
  );
}
