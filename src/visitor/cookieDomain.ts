import { createCookie } from './cookie.js';
import { type Identity, isVisitorId, markOf, type Visitor, versionIn } from './record.js';

/**
 * The cookie's last field is a number of at most fifteen digits, as the relay accepts it. The last ten digits are the mark of a primary
 * key, which has 32 bits. The digit before them is 1 if the service may not have the key's `$identify`. The first four digits are the
 * tag of this service. Versions without the tag have shared marks among all services.
 */
const UNSENT = 1e10;
const TAG = 1e11;
const TAGS = 9999;

const tagOf = (service: string): number => 1 + (markOf(service) % TAGS);

const encode = ([key, , isUnsent]: Identity, service: string): number =>
  (typeof key === 'string' ? markOf(key) : key) + (isUnsent ? UNSENT : 0) + tagOf(service) * TAG;

/** The same person identifies with the same visitor id at every service, but each service needs an `$identify` of its own. */
const decode = (field: string, service: string): Identity => {
  const value = Number(field);
  const tag = Math.floor(value / TAG);
  const isUnsent = value % TAG >= UNSENT || (tag > 0 && tag !== tagOf(service));
  return isUnsent ? [value % UNSENT, undefined, true] : [value % UNSENT];
};

/**
 * Whether the cookie's version is older than a visitor with another id. If the visitor has logged out with the cookie's version, the record of
 * this host has the new id. A page that went by the customer in the cookie would ask the database again and again.
 */
const isOlder = (turn: number, { turn: own, since, keys }: Visitor): boolean =>
  turn < own || (turn === own && since === own && !Object.keys(keys)[0]);

/** The result of the last write, and the domain, once it is known. */
interface Written {
  readonly domain?: string | undefined;
  readonly outcome?: 'written' | 'refused';
}

/** Shares the visitor id between the hosts of a site. */
export interface SharedVisitor {
  /** Returns the newest visitor of all hosts, or `here` itself if no other host has a newer one. */
  meet(here: Visitor, service: string): Visitor;
  /** Writes the visitor to the cookie, or deletes the cookie. Calls `fail` once if the browser refuses. */
  share(visitor: Visitor | undefined, fail: (message: string) => void, service: string): void;
}

/**
 * Creates the value of `createTracker`'s option `cookieDomain`, which shares one visitor id between all hosts of a site, such as
 * `www.` and `app.`. The cookie `clew` contains the visitor id, its version, a 32-bit hash of the primary key, and a four-digit tag
 * of the service's `storageName`. The cookie contains no primary key.
 *
 * @param domain the domain that all hosts share, such as `example.com`. `auto` finds the widest domain that the browser allows.
 * @throws TypeError if the domain is not a non-empty string
 */
export const cookieDomain = (domain: string): SharedVisitor => {
  if (typeof domain !== 'string' || !domain)
    throw new TypeError(`clew: cookieDomain: expected a domain or 'auto', not ${domain}`);
  const cookie = createCookie('clew');
  let state: Written = domain === 'auto' ? {} : { domain: domain.replace(/^\./, '').toLowerCase() };
  /** The visitor of the cookie. If there are several cookies, the newest. */
  const read = () => {
    const [newest] = cookie
      .read()
      .map((value) => value.split('.'))
      .map(([visitorId, turn, mark]) => ({ visitorId, turn: versionIn(turn), mark }))
      .filter(({ visitorId }) => isVisitorId(visitorId))
      .sort((one, other) => other.turn - one.turn);
    return newest ?? { visitorId: undefined, turn: 0, mark: undefined };
  };
  const write = (value: string) => {
    const at = state.domain ?? cookie.widest();
    state = { ...state, domain: at };
    return cookie.write(value, at);
  };
  return {
    meet(here, service) {
      const { visitorId, turn, mark } = read();
      const isSame = visitorId === here.thread;
      // A late answer of the relay sets an earlier visitor id again, so the latest one counts.
      if (!visitorId || (isSame ? turn < here.turn || !mark || here.keys[service] : isOlder(turn, here))) return here;
      const keys = { ...(isSame && here.keys), ...(mark && { [service]: decode(mark, service) }) };
      return { ...here, thread: visitorId, turn, keys };
    },
    share(visitor, fail, service) {
      const there = read();
      const { thread: visitorId, turn = 0, keys = {} } = visitor ?? {};
      const isSame = visitorId === there.visitorId;
      const identity = keys[service];
      const isKnown = visitor && there.visitorId && (isSame ? turn <= there.turn : !isOlder(there.turn, visitor));
      // Each page writes the cookie once, also without a change. The cookie may be of another domain, and its age begins anew.
      if (isKnown && (!isSame || (state.outcome === 'written' && !identity))) return;
      if (visitorId && state.outcome === 'refused') return;
      const known = isSame && typeof identity?.[0] !== 'string' && there.mark;
      const mark = known || (identity && encode(identity, service));
      const version = isSame ? Math.max(turn, there.turn) : turn;
      const isDone = visitorId ? write(`${visitorId}.${version}.${mark ?? ''}`) : cookie.erase();
      if (!isDone && state.outcome !== 'refused') fail('cookieDomain: the browser refused the cookie');
      state = { ...state, outcome: isDone ? 'written' : 'refused' };
    },
  };
};
