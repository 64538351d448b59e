// @module-tag promise
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { PluginTools } from '../../src/api/types.ts';
import { createDrafts } from '../../src/plugins/drafts.ts';

const AFTER = 1000;
const nothing = () => {};
let stored: Record<string, unknown>;
let isAllowed: boolean;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  stored = {};
  isAllowed = true;
});
afterEach(() => vi.useRealTimers());

/** A page of the visitor. All pages share the storage. */
const openPage = (visitor: string | (() => string) = 'ann', service = '/clew') => {
  const local: PluginTools['local'] = {
    get: (key) => structuredClone(stored[key]),
    set(key, value) {
      if (isAllowed) stored = JSON.parse(JSON.stringify({ ...stored, [key]: value }));
      return isAllowed;
    },
  };
  /** A site that removes secrets from what is stored, and drops the events of the form `private`. */
  const preview: PluginTools['preview'] = (event, payload) => {
    const { secret: _secret, ...rest } = payload as { secret?: string; form?: string };
    return event === 'form_abandoned' && rest.form !== 'private' ? rest : undefined;
  };
  const visitorId = () => (typeof visitor === 'string' ? visitor : visitor());
  const tools = { service, local, visitorId, preview } as unknown as PluginTools;
  return createDrafts(tools, 'forms', 'form_abandoned', AFTER);
};
const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);
const PAYLOADS = [{ form: 'signup' }];

it('a later page takes a draft once, and the page itself learns of that', () => {
  const [page, other, third] = [openPage(), openPage(), openPage()];
  page.keep(PAYLOADS, nothing);
  pass(AFTER);
  expect(other.takeOthers('ann')).toEqual([]);
  pass(AFTER);
  expect(other.takeOthers('ann')).toMatchObject([{ payloads: PAYLOADS }]);
  expect(third.takeOthers('ann')).toEqual([]);
  expect(page.takeBack()).toBe(false);
  expect(stored).toEqual({});
});

it('a page takes its own draft back, however late', () => {
  const page = openPage();
  page.keep(PAYLOADS, nothing);
  pass(10 * AFTER);
  expect(page.takeOthers('ann')).toEqual([]);
  expect(page.takeBack()).toBe(true);
  expect(page.takeBack()).toBe(true);
  expect(stored).toEqual({});
});

it('the drafts of two pages are apart', () => {
  const [page, other] = [openPage(), openPage()];
  page.keep(PAYLOADS, nothing);
  other.keep([{ form: 'login' }], nothing);
  expect(page.takeBack()).toBe(true);
  pass(2 * AFTER);
  expect(page.takeOthers('ann')).toMatchObject([{ payloads: [{ form: 'login' }] }]);
});

it('a draft of a former visitor is deleted', () => {
  openPage('bob').keep(PAYLOADS, nothing);
  pass(2 * AFTER);
  expect(openPage().takeOthers('ann')).toEqual([]);
  expect(stored).toEqual({});
});

it('nothing is kept without consent, and the page still has its events', () => {
  isAllowed = false;
  const page = openPage();
  page.keep(PAYLOADS, nothing);
  expect(stored).toEqual({});
  expect(page.takeBack()).toBe(true);
  isAllowed = true;
  openPage('').keep(PAYLOADS, nothing);
  expect(stored).toEqual({});
});

it('a refusal that erases the draft ends it', () => {
  const page = openPage();
  page.keep(PAYLOADS, nothing);
  stored = {};
  expect(page.takeBack()).toBe(false);
});

it('nothing is stored that `beforeSend` removes or drops', () => {
  const page = openPage();
  page.keep([{ form: 'signup', secret: 'token' }, { form: 'private' }], nothing);
  expect(JSON.stringify(stored)).not.toMatch(/token|private/);
  expect(page.takeBack()).toBe(true);
  page.keep([{ form: 'private' }], nothing);
  expect(stored).toEqual({});
  expect(page.takeBack()).toBe(true);
});

it('values of other code are no drafts', () => {
  const by = 'ann';
  stored = {
    'forms /clew': {
      a: null,
      b: 'text',
      c: { by, at: 1 },
      d: { by, at: '1', payloads: [] },
      e: { by, at: 1, payloads: [1] },
      f: { by, at: 1, payloads: 'text' },
    },
  };
  expect(openPage().takeOthers('ann')).toEqual([]);
  stored = { 'forms /clew': 'text' };
  expect(openPage().takeOthers('ann')).toEqual([]);
});

it('a draft of the person before is no longer the page’s, if another tab has begun another visitor', () => {
  let visitor = 'ann';
  const page = openPage(() => visitor);
  page.keep(PAYLOADS, nothing);
  visitor = 'bob';
  expect(page.takeBack()).toBe(false);
  expect(stored['forms /clew']).toBeUndefined();
});

it('the tracker of another service takes no drafts', () => {
  openPage().keep(PAYLOADS, nothing);
  pass(2 * AFTER);
  expect(openPage('ann', '/other').takeOthers('ann')).toEqual([]);
  expect(openPage().takeOthers('ann')).toHaveLength(1);
});
