import { getCurrentInstance, onUnmounted, type Ref, unref, watch } from 'vue';
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
  // Before the component and those below it render: what they track is the customer's.
  watch(read, see, { immediate: true, deep: true });
  const component = getCurrentInstance();
  if (!component) return;
  // The watcher above passes on what the source throws.
  const readQuietly = () => {
    try {
      return read();
    } catch {
      return undefined;
    }
  };
  let stop = () => {};
  // Since Vue 3.5, a watcher of no component runs before all components, also those above and beside this one.
  queueMicrotask(() => {
    if (!component.isUnmounted) stop = watch(readQuietly, see, { deep: true });
  });
  onUnmounted(() => stop());
};
