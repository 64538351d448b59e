import { createElement as h, StrictMode } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import {
  BrowserRouter,
  createBrowserRouter,
  createHashRouter,
  Navigate,
  type RouteObject,
  redirect,
} from 'react-router';
import { RouterProvider } from 'react-router/dom';
import { Activities, Elements, Layout, Page, Provided } from './reactPages.ts';
import { expose } from './tracker.ts';
import { loadData } from './view.ts';

const id = location.pathname.split('/')[1];
const basename = `/${id}`;
const root = document.getElementById('app') as HTMLElement;

const pagesWith = (loader?: RouteObject['loader']): RouteObject[] =>
  ['one', 'two', 'three'].map((name) => ({
    path: `/${name}`,
    element: h(Page, { name }),
    ...(loader && { loader }),
  }));
const routesWith = (old: RouteObject, loader?: RouteObject['loader']): RouteObject[] => [
  { element: h(Layout), HydrateFallback: () => null, children: [...pagesWith(loader), { ...old, path: '/old' }] },
];

const load = async () => {
  await loadData();
  return null;
};
const navigate = { element: h(Navigate, { to: '/three', replace: true }) };
const inLoader = { loader: () => redirect('/three') };

const start = () => {
  if (id === 'react-hash') return h(RouterProvider, { router: createHashRouter(routesWith(navigate)) });
  if (id === 'react-loader')
    return h(RouterProvider, { router: createBrowserRouter(routesWith(inLoader, load), { basename }) });
  if (id === 'react-navigate')
    return h(RouterProvider, { router: createBrowserRouter(routesWith(navigate, load), { basename }) });
  return h(BrowserRouter, { basename }, h(id === 'react-activity' ? Activities : Elements));
};

const app = h(StrictMode, {}, h(Provided, {}, start()));
if (id === 'react-hydrated') hydrateRoot(root, app);
else createRoot(root).render(app);
expose();
