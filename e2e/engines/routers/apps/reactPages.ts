import { ClewProvider, usePageViews } from 'clew/react';
import { Activity, createElement as h, type ReactNode, useEffect } from 'react';
import { Link, Navigate, Outlet, Route, Routes, useLocation } from 'react-router';
import { tracker } from './tracker.ts';
import { nameOf, titleOf } from './view.ts';

const NAMES = ['one', 'two', 'three', 'old'];

const Links = () =>
  h(
    'nav',
    {},
    NAMES.map((name) => h(Link, { key: name, id: name, to: `/${name}` }, name)),
  );

/** Sets the title in an effect, as react-helmet-async does. */
export const Page = ({ name }: { name: string }) => {
  useEffect(() => {
    document.title = titleOf(name);
  }, [name]);
  return h('h1', {}, titleOf(name));
};

export const Layout = ({ children }: { children?: ReactNode }) => {
  usePageViews(useLocation());
  return h('div', {}, h(Links), children ?? h(Outlet));
};

export const Provided = ({ children }: { children?: ReactNode }) => h(ClewProvider, { tracker }, children);

/** The routes as elements. `old` redirects after it has rendered. */
export const Elements = () =>
  h(
    Routes,
    {},
    h(
      Route,
      { element: h(Layout) },
      ['one', 'two', 'three'].map((name) => h(Route, { key: name, path: name, element: h(Page, { name }) })),
      h(Route, { path: 'old', element: h(Navigate, { to: '/three', replace: true }) }),
    ),
  );

/** Each page stays in the tree, and is hidden while another one is shown. */
export const Activities = () => {
  const name = nameOf(useLocation().pathname);
  if (name === 'old') return h(Layout, {}, h(Navigate, { to: '/three', replace: true }));
  const pages = ['one', 'two', 'three'].map((page) =>
    h(Activity, { key: page, mode: page === name ? 'visible' : 'hidden', children: h(Page, { name: page }) }),
  );
  return h(Layout, {}, pages);
};
