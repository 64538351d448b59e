import { ClewProvider } from 'clew/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { RouterProvider } from 'react-router/dom';
import '../../shared/look.css';
import { router } from './router.tsx';
import { tracker } from './tracker.ts';

createRoot(document.getElementById('app') as HTMLElement).render(
  <StrictMode>
    <ClewProvider tracker={tracker}>
      <RouterProvider router={router} />
    </ClewProvider>
  </StrictMode>,
);
