import { createBrowserRouter, redirect } from 'react-router';
import { Layout } from './Layout.tsx';
import { Account } from './pages/Account.tsx';
import { Club } from './pages/Club.tsx';
import { YarnPage } from './pages/YarnPage.tsx';
import { Yarns } from './pages/Yarns.tsx';

export const router = createBrowserRouter(
  [
    {
      element: <Layout />,
      children: [
        { path: '/', element: <Yarns /> },
        { path: '/yarns/:id', element: <YarnPage /> },
        { path: '/club', element: <Club /> },
        { path: '/account', element: <Account /> },
        { path: '/join', loader: () => redirect('/club') },
        { path: '*', loader: () => redirect('/') },
      ],
    },
  ],
  { basename: import.meta.env.BASE_URL },
);
