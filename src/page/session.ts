import type { PluginTools, Tracker } from '../api/types.js';
import type { Properties } from '../wire.js';

/** A customer who is logged in, as for `identify`. */
export interface ClewSession {
  /** The customer's primary key. */
  readonly primaryKey: string;
  /** Properties of the customer. */
  readonly properties?: Properties | undefined;
  /** The primary key's signature, or an identity token. */
  readonly signature?: string | undefined;
}

/** An identity token or a customer who is logged in. `null` after a log-out, and `undefined` as long as the app does not know. */
export type SessionState = string | ClewSession | null | undefined;

/** Where plugins' storage has the visitor id that a session has identified. */
const KEY = 'session';

/** The customer of a token, which the relay verifies. If the text is no token, `identify` emits its error. */
const sessionIn = (token: string): Partial<ClewSession> => {
  try {
    const [, claims = ''] = token.split('.');
    const bytes = atob(claims.replaceAll('-', '+').replaceAll('_', '/'));
    const text = new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));
    const { sub, properties } = JSON.parse(text);
    return { primaryKey: sub, properties: properties ?? undefined, signature: token };
  } catch {
    return {};
  }
};

/** Undefined if JSON cannot express the value. */
const textOf = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
};

/** Identifies and resets as the app's session changes. */
export interface SessionFollower {
  /** The session that the app has shown last. */
  latest: SessionState;
  /** Makes the tracker's visitor the customer of that session. If it is already, nothing is called. */
  follow(): void;
}

const createFollower = (tracker: Tracker): SessionFollower => {
  let tools: PluginTools | undefined;
  tracker.use((_tracker, given) => {
    tools = given;
    return () => {};
  });
  /** The last session, as text: the customer with the proof, and the properties. '' means logged out. */
  let last: readonly [who?: string, properties?: string | undefined] = [];
  /** The visitor id that the session has identified, or '' while the page may not know it. */
  let owner: string | undefined;
  const keep = (visitorId: string) => {
    owner = visitorId;
    tools?.local.set(KEY, visitorId);
  };
  /** Another tab, or the app itself, may have started another visitor id since, for another person. */
  const isStill = (by: unknown): boolean => !by || (tools?.visitorId() ?? by) === by;
  /** Calls `run` once the visitor id is certain, unless there is another session by then. */
  const whenKnown = (run: (visitorId: string) => void) => {
    const [who] = last;
    tracker.correlationValue().then(
      (visitorId) => who === last[0] && run(visitorId),
      () => {},
    );
  };
  const logIn = ({ primaryKey, properties, signature }: Partial<ClewSession>) => {
    const [who, before] = last;
    last = [`${primaryKey} ${signature}`, textOf([primaryKey, properties])];
    // The tracker reports properties that have no text.
    const changed = last[1] && last[1] === before ? undefined : properties;
    if (who !== last[0]) {
      tracker.identify(primaryKey as string, changed, { signature });
      if (!primaryKey) return;
      keep(tools?.visitorId() ?? '');
      whenKnown(keep);
    } else if (changed && isStill(owner)) tracker.setProperties(changed);
  };
  const logOut = () => {
    if (last[0] === '') return;
    last = [''];
    // After a log-out by a navigation, only an earlier page has identified.
    const by = owner ?? tools?.local.get(KEY);
    owner = undefined;
    if (by === undefined) return;
    if (isStill(by)) tracker.reset();
    whenKnown(() => tools?.local.get(KEY) === by && tools?.local.set(KEY, undefined));
  };
  const follower: SessionFollower = {
    latest: undefined,
    follow() {
      const { latest } = follower;
      if (latest === null) logOut();
      else if (latest !== undefined) logIn(typeof latest === 'string' ? sessionIn(latest) : latest);
    },
  };
  tracker.on('change', ({ visitorId }) => {
    if (visitorId !== undefined) return;
    // After a refusal, `consent(true)` is about to start a visitor id without a customer.
    last = [];
    queueMicrotask(follower.follow);
  });
  return follower;
};

const followers = new WeakMap<Tracker, SessionFollower>();

/** Returns the follower of this tracker. There is one, so that a component may mount again, or another one in its place. */
export const sessionFollower = (tracker: Tracker): SessionFollower => {
  const follower = followers.get(tracker) ?? createFollower(tracker);
  followers.set(tracker, follower);
  return follower;
};
