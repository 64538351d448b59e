import type { Metadata } from 'next';
import type { ReactNode } from 'react';
import '../../shared/look.css';
import { Shop } from '../components/Shop.tsx';

export const metadata: Metadata = {
  // The template is for the pages below. The first page, beside this file, has the default.
  title: { default: 'Yarns · Ariadne Yarns', template: '%s · Ariadne Yarns' },
};

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body>
        <Shop>{children}</Shop>
      </body>
    </html>
  );
}
