import { Navigate } from 'react-router';
import { useMembership } from '../membership.ts';
import { useAppTracker } from '../tracker.ts';

export const Account = () => {
  const tracker = useAppTracker();
  const [member, setMember] = useMembership();
  if (!member) return <Navigate to="/club" replace />;
  const logOut = () => {
    tracker.reset();
    setMember();
  };
  return (
    <>
      <title>Account · Ariadne Yarns</title>
      <div className="card hello">
        <h1>Hello, {member}</h1>
        <p>From now on, what you do here is known to be yours.</p>
        <button type="button" onClick={logOut}>
          Log out
        </button>
      </div>
    </>
  );
};
