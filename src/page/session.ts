import type { PluginTools, Tracker } from '../api/types.js';
import type { Properties } from '../wire.js';
import { report } from './report.js';

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

/** The customer of a token, which the relay verifies. A text that is no token has none. */
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

const isUsable = (session: Partial<ClewSession>): session is ClewSession =>
  typeof session.primaryKey === 'string' && session.primaryKey !== '';

/** A session as it was followed. */
interface Followed {
  readonly primaryKey: string;
  readonly signature: string | undefined;
  /** The properties, as text. */
  readonly properties: string | undefined;
}

const createFollower = (tracker: Tracker): SessionFollower => {
  let tools: PluginTools | undefined;
  tracker.use((_tracker, given) => {
    tools = given;
    return () => {};
  });
  /** The last session, or `null` after a log-out. */
  let last: Followed | null | undefined;
  /** The visitor id that the session has identified, or '' while the page may not know it. */
  let owner: string | undefined;
  const keep = (visitorId: string) => {
    owner = visitorId;
    tools?.local.set(KEY, visitorId);
  };
  /** Another tab, or the app itself, may have started another visitor id since, for another person. */
  const isStill = (by: unknown): boolean => {
    // Perhaps that tab has logged in the same customer. This call also notices what the page has no message about yet.
    const isCustomer = tools?.isCustomer(last?.primaryKey);
    const visitorId = tools?.visitorId();
    return isCustomer || visitorId === undefined || visitorId === by;
  };
  /** Calls `run` once the visitor id is certain, unless another customer is logged in by then. */
  const whenKnown = (run: (visitorId: string) => void) => {
    const primaryKey = last?.primaryKey;
    tracker.correlationValue().then(
      (visitorId) => primaryKey === last?.primaryKey && run(visitorId),
      () => {},
    );
  };
  const logIn = ({ primaryKey, properties, signature }: ClewSession) => {
    const before = last;
    const isSame = !!before && before.primaryKey === primaryKey;
    if (isSame && !isStill(owner)) return;
    const text = textOf(properties);
    last = { primaryKey, signature, properties: text };
    // The tracker reports properties that have no text.
    const changed = isSame && text && text === before.properties ? undefined : properties;
    if (isSame && signature === before.signature) {
      if (changed) tracker.setProperties(changed);
      return;
    }
    tracker.identify(primaryKey, changed, { signature });
    keep(tools?.visitorId() ?? '');
    // In another tab, another customer may have been identified before this page could be.
    whenKnown((visitorId) => tools?.isCustomer(primaryKey) && keep(visitorId));
  };
  const logOut = () => {
    if (last === null) return;
    // After a log-out by a navigation, only an earlier page has identified.
    const by = owner ?? tools?.local.get(KEY);
    const isMine = by !== undefined && isStill(by);
    last = null;
    owner = undefined;
    if (by === undefined) return;
    if (isMine) tracker.reset();
    whenKnown(() => tools?.local.get(KEY) === by && tools?.local.set(KEY, undefined));
  };
  /** The last session that names no customer, as text, until one does. */
  let wrong: string | undefined;
  const refuse = (session: string | Partial<ClewSession>) => {
    const text = textOf(session) ?? typeof session;
    if (text !== wrong) {
      const found =
        typeof session === 'string' ? 'a text that is no token' : `primaryKey: ${typeof session.primaryKey}`;
      report(tracker, `useIdentity: expected an identity token, or primaryKey as a non-empty string, found ${found}`);
    }
    wrong = text;
    // Another person may be logged in now: the next events must not go to the customer before.
    if (last) logOut();
  };
  const follower: SessionFollower = {
    latest: undefined,
    follow() {
      const { latest } = follower;
      if (latest === undefined) return;
      if (latest === null) return logOut();
      const session = typeof latest === 'string' ? sessionIn(latest) : latest;
      if (!isUsable(session)) return refuse(latest);
      wrong = undefined;
      logIn(session);
    },
  };
  tracker.on('change', ({ visitorId }) => {
    // The `reset()` of a log-out emits the signal, too.
    if (visitorId !== undefined || !last) return;
    // After a refusal, `consent(true)` is about to start a visitor id without a customer.
    last = undefined;
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
