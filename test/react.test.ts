import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type InstalledApp, installApp } from '../demo/apps.ts';
import { createTracker } from '../src/index.ts';
import { ClewProvider, useIdentity, usePageViews, useTracker } from '../src/react.ts';
import { useReact18 } from './react18.ts';

const run = promisify(execFile);
const tracker = createTracker({ baseUrl: '/clew' });

const render = (Component: () => string) =>
  renderToString(createElement(ClewProvider, { tracker }, createElement(Component)));

afterEach(() => vi.restoreAllMocks());

describe('on a server, where there is no window', () => {
  it('gives components the tracker of the app', () => {
    const seen = vi.fn();
    expect(
      render(() => {
        seen(useTracker());
        return 'Hello';
      }),
    ).toBe('Hello');
    expect(seen).toHaveBeenCalledWith(tracker);
  });

  it.each([
    ['a location', { pathname: '/yarns', search: '?fibre=wool' }],
    ['a pathname', '/yarns'],
  ])('tracks no page views of %s', (_name, location) => {
    const page = vi.spyOn(tracker, 'page');
    const html = render(() => {
      usePageViews(location, { query: true });
      return 'Hello';
    });
    expect(html).toBe('Hello');
    expect(page).not.toHaveBeenCalled();
  });

  it('identifies no customer', () => {
    const identify = vi.spyOn(tracker, 'identify');
    const html = render(() => {
      useIdentity({ primaryKey: 'ann' });
      return 'Hello';
    });
    expect(html).toBe('Hello');
    expect(identify).not.toHaveBeenCalled();
  });

  it('renders with React 18 from the packed package', { tags: 'long' }, async () => {
    let app: InstalledApp | undefined;
    try {
      app = await installApp('react');
      await useReact18(app);
      const code = `
        import { createElement, version } from 'react';
        import { renderToString } from 'react-dom/server';
        import { createTracker } from 'clew';
        import { ClewProvider, useIdentity, usePageViews, useTracker } from 'clew/react';
        const tracker = createTracker({ baseUrl: '/clew' });
        const Page = () => {
          usePageViews('/yarns');
          useIdentity(null);
          return version + ' ' + (useTracker() === tracker);
        };
        console.log(renderToString(createElement(ClewProvider, { tracker }, createElement(Page))));
      `;
      const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '--eval', code], {
        cwd: app.folder,
      });
      expect(stderr).toBe('');
      expect(stdout).toMatch(/^18\.\d+\.\d+ true$/m);
    } finally {
      await app?.remove();
    }
  });
});

it('useTracker without a provider throws an error that names it', () => {
  const Lost = () => String(useTracker());
  expect(() => renderToString(createElement(Lost))).toThrow(
    'clew: useTracker: expected a <ClewProvider tracker={…}> above this component, found none',
  );
});
