'use client';

import { useRouter } from 'next/navigation';
import { useMembership } from './membership.ts';
import { useAppTracker } from './tracker.ts';

export const JoinForm = () => {
  const tracker = useAppTracker();
  const router = useRouter();
  const [, setMember] = useMembership();
  const join = (form: FormData) => {
    const name = String(form.get('name'));
    const plan = form.get('plan') === 'pro' ? 'pro' : 'free';
    tracker.identify(String(form.get('email')), { name, plan });
    tracker.track('signup', { plan });
    setMember(name);
    router.push('/account');
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        join(new FormData(event.currentTarget));
      }}
    >
      <label>
        Name <input name="name" required autoComplete="off" />
      </label>
      <label>
        E-mail <input name="email" type="email" required autoComplete="off" />
      </label>
      <fieldset className="plans" aria-label="Plan">
        <label>
          <input type="radio" name="plan" value="free" /> Free
        </label>
        <label>
          <input type="radio" name="plan" value="pro" defaultChecked /> Pro
        </label>
      </fieldset>
      <button type="submit" className="primary">
        Sign up
      </button>
    </form>
  );
};
