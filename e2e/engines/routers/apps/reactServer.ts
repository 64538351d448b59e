import { createElement as h, StrictMode } from 'react';
import { renderToString } from 'react-dom/server';
import { StaticRouter } from 'react-router';
import { Elements, Provided } from './reactPages.ts';

/** The markup of a page, which the browser hydrates. */
export const renderReact = (id: string, page: string): string =>
  renderToString(
    h(
      StrictMode,
      {},
      h(Provided, {}, h(StaticRouter, { basename: `/${id}`, location: `/${id}/${page}` }, h(Elements))),
    ),
  );
