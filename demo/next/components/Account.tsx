'use client';

import Link from 'next/link';
import { useMembership } from './membership.ts';
import { useAppTracker } from './tracker.ts';

export const Account = () => {
  const tracker = useAppTracker();
  const [member, setMember] = useMembership();
  if (!member)
    return (
      <div className="card hello">
        <h1>You are logged out</h1>
        <Link href="/club">Join the club.</Link>
      </div>
    );
  const logOut = () => {
    tracker.reset();
    setMember();
  };
  return (
    <div className="card hello">
      <h1>Hello, {member}</h1>
      <p>From now on, what you do here is known to be yours.</p>
      <button type="button" onClick={logOut}>
        Log out
      </button>
    </div>
  );
};
