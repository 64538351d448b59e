import { type Ref, unref, watch } from 'vue';
import type { Tracker } from '../api/types.js';
import { type ClewSession, type SessionState, sessionFollower } from '../page/session.js';

/** A session for `useIdentity`, or a ref or a getter of it. A text is an identity token. */
export type SessionSource<Session = string | ClewSession | null | undefined> =
  | Session
  | Readonly<Ref<Session>>
  | (() => Session);

/** Identifies and resets as the session changes, until the component unmounts. */
export const watchSession = (tracker: Tracker, source: SessionSource): void => {
  // A server has no visitor, and one tracker for all requests.
  if (typeof window === 'undefined') return;
  const read = () => (typeof source === 'function' ? source() : unref(source));
  const follower = sessionFollower(tracker);
  const see = (session: SessionState) => {
    follower.latest = session;
    follower.follow();
  };
  // Before the components render: what they track is the customer's.
  watch(read, see, { immediate: true, deep: true });
};
