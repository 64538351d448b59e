import { expect, it } from 'vitest';
import { kinds, missingAmong, refuse } from '../../e2e/support/browsers.ts';
import { listSkipped } from './missing.ts';

const lack = (name: string) => {
  const kind = kinds[name];
  if (!kind) throw new Error(`no browser ${name}`);
  const { isThere } = kind;
  kind.isThere = () => false;
  return () => {
    kind.isThere = isThere;
  };
};

it.each(['firefox', 'webkit'])('names %s as skipped where it is missing, and fails on CI', (name) => {
  const restore = lack(name);
  const missing = missingAmong([name]);
  const skipped = listSkipped();
  restore();
  expect(missing).toEqual([expect.stringMatching(`^${name} \\(.+\\)$`)]);
  expect(skipped).toContain(`all tests in ${missing[0]}`);
  expect(refuse(missing, false)).toBeUndefined();
  expect(refuse(missing, true)).toContain(name);
});

it('fails everywhere without Chromium', () => {
  const restore = lack('chromium');
  const missing = missingAmong(['chromium']);
  restore();
  expect(refuse(missing, false)).toContain('No Chromium');
});

it('fails nowhere when no browser is missing', () => {
  expect([refuse([], true), refuse([], false)]).toEqual([undefined, undefined]);
});
