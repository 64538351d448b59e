// @module-tag promise
import { afterEach, expect, it, vi } from 'vitest';
import { browserContext } from '../../src/page/context.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

it('browserContext reads the time zone once, and all else in each call', () => {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const formatter = vi.spyOn(Intl, 'DateTimeFormat');
  vi.stubGlobal('navigator', { language: 'de-AT' });
  vi.stubGlobal('screen', { width: 1920, height: 1080 });
  const seen = [800, 400].map((width) => {
    vi.stubGlobal('innerWidth', width);
    vi.stubGlobal('innerHeight', 600);
    return browserContext();
  });
  const rest = { language: 'de-AT', screen: { width: 1920, height: 1080 }, userAgent: undefined };
  expect(seen).toEqual([800, 400].map((width) => ({ ...rest, timeZone, viewport: { width, height: 600 } })));
  expect(formatter).toHaveBeenCalledOnce();
});
