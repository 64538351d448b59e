import { usePageViews } from 'clew/react';
import { useState } from 'react';
import { Link, NavLink, Outlet, useLocation, useOutletContext } from 'react-router';
import { Banner } from './Banner.tsx';
import { Thread } from './Thread.tsx';

/** What the pages share: who has joined the club, by name. */
type Membership = [member: string | undefined, setMember: (member?: string) => void];

export const useMembership = () => useOutletContext<Membership>();

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
