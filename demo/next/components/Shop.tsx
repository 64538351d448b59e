'use client';

import { ClewProvider, usePageViews } from 'clew/react';
import Link from 'next/link';
import { usePathname } from 'next/navigation';
import { type ReactNode, useState } from 'react';
import { Banner } from './Banner.tsx';
import { MembershipContext } from './membership.ts';
import { Thread } from './Thread.tsx';
import { tracker } from './tracker.ts';

const PAGES = [
  ['/', 'Yarns'],
  ['/club', 'Club'],
  ['/account', 'Account'],
] as const;

const Frame = ({ children }: { children: ReactNode }) => {
  const path = usePathname();
  usePageViews(path);
  return (
    <div className="frame">
      <header className="top">
        <Link href="/" className="shop-name">
          Ariadne Yarns
        </Link>
        <nav>
          {PAGES.map(([href, name]) => (
            <Link key={href} href={href} aria-current={href === path ? 'page' : undefined}>
              {name}
            </Link>
          ))}
        </nav>
      </header>
      <Banner />
      <main>{children}</main>
      <Thread />
    </div>
  );
};

/** The frame of all pages, which stays mounted while they change. */
export const Shop = ({ children }: { children: ReactNode }) => (
  <ClewProvider tracker={tracker}>
    <MembershipContext value={useState<string>()}>
      <Frame>{children}</Frame>
    </MembershipContext>
  </ClewProvider>
);
