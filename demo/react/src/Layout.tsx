import { usePageViews } from 'clew/react';
import { useState } from 'react';
import { Link, NavLink, Outlet, useLocation } from 'react-router';
import { Banner } from './Banner.tsx';
import type { Membership } from './membership.ts';
import { Thread } from './Thread.tsx';

export const Layout = () => {
  usePageViews(useLocation());
  const membership: Membership = useState<string>();
  return (
    <div className="frame">
      <header className="top">
        <Link to="/" className="shop-name">
          Ariadne Yarns
        </Link>
        <nav>
          <NavLink to="/" end>
            Yarns
          </NavLink>
          <NavLink to="/club">Club</NavLink>
          <NavLink to="/account">Account</NavLink>
        </nav>
      </header>
      <Banner />
      <main>
        <Outlet context={membership} />
      </main>
      <Thread />
    </div>
  );
};
