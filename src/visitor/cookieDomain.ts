import { createCookie } from './cookie.js';
import { type Identity, isVisitorId, markOf, type Visitor, versionIn } from './record.js';

/** Added to the mark of a primary key, which has 32 bits, if the service may not have its `$identify`. */
const UNSENT = 1e10;

/** Shares the visitor id between the hosts of a site. */
export interface SharedVisitor {
  /** Returns the newest visitor of all hosts, or `here` itself if no other host has a newer one. */
  meet(here: Visitor, service: string): Visitor;
  /** Writes the visitor to the cookie, or deletes the cookie. Calls `fail` once if the browser refuses. */
  share(visitor: Visitor | undefined, fail: (message: string) => void): void;
}

/**
 * Creates the value of `createTracker`'s option `cookieDomain`, which shares one visitor id between all hosts of a site, such as
 * `www.` and `app.`. The cookie `clew` contains the visitor id, its version, and a 32-bit hash of
 * the primary key. The cookie contains no primary key.
 *
 * @param domain the domain that all hosts share, such as `example.com`. `auto` finds the widest domain that the browser allows.
 * @throws TypeError if the domain is not a non-empty string
 */
export const cookieDomain = (domain: string): SharedVisitor => {
  if (typeof domain !== 'string' || !domain)
    throw new TypeError(`clew: cookieDomain: expected a domain or 'auto', not ${domain}`);
  const cookie = createCookie('clew', domain);
  /** What has come of the writing so far. */
  let state: 'new' | 'written' | 'refused' = 'new';
  /** What the cookie says of the visitor: the newest, if there are several. */
  const read = () => {
    const [newest] = cookie
      .read()
      .map((value) => value.split('.'))
      .map(([thread, turn, mark]) => ({ thread, turn: versionIn(turn), mark }))
      .filter(({ thread }) => isVisitorId(thread))
      .sort((one, other) => other.turn - one.turn);
    return newest ?? { thread: undefined, turn: 0, mark: undefined };
  };
  return {
    meet(here, service) {
      const { thread, turn, mark } = read();
      const isSame = thread === here.thread;
      // The latest visitor id counts: an answer of the relay that comes late sets an earlier one once more.
      if (!thread || turn < here.turn || (isSame && (!mark || here.keys[service]))) return here;
      const value = Number(mark);
      const identity: Identity = value < UNSENT ? [value] : [value - UNSENT, undefined, true];
      return { ...here, thread, turn, keys: { ...(isSame && here.keys), ...(mark && { [service]: identity }) } };
    },
    share(visitor, fail) {
      const there = read();
      const { thread, turn = 0, keys = {} } = visitor ?? {};
      const isSame = thread === there.thread;
      const [key, , isUnsent] = Object.values(keys)[0] ?? [];
      const isKnown = there.thread && turn <= there.turn;
      // Once for each page also if nothing is new: the cookie may be of another domain, and it lasts so long from now on.
      if (thread && isKnown && (!isSame || (state === 'written' && key === undefined))) return;
      if (thread && state === 'refused') return;
      const known = (isSame && there.mark) || key;
      const mark = typeof key === 'string' ? markOf(key) + (isUnsent ? UNSENT : 0) : known;
      const version = isSame ? Math.max(turn, there.turn) : turn;
      const isDone = thread ? cookie.write(`${thread}.${version}.${mark ?? ''}`) : cookie.erase();
      if (isDone) state = 'written';
      else if (state !== 'refused') {
        state = 'refused';
        fail('cookieDomain: the browser refused the cookie');
      }
    },
  };
};
