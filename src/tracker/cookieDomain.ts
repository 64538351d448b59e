import { createCookie } from '../page/cookie.js';
import { isThread, type Visitor } from './visitor.js';

/** Tells a tracker what the other hosts of the site know of the visitor, and them what it knows. */
export interface SharedVisitor {
  /** Who the visitor is, knowing who they are here: `here` itself when the others know nothing newer. */
  meet(here: Visitor, service: string): Visitor;
  /** Tells the others, or makes them forget. Says once, if it does not work. */
  tell(visitor: Visitor | undefined, fail: (message: string) => void): void;
  /** Whether somebody was identified with this primary key on another host. */
  knows(key: string | number | undefined, primaryKey: string): boolean;
}

/** Tells people apart, and does not tell who they are: FNV-1a, 32 bits (http://www.isthe.com/chongo/tech/comp/fnv/). */
const markOf = (primaryKey: string): number => {
  let mark = 2166136261;
  for (const character of primaryKey) mark = Math.imul(mark ^ (character.codePointAt(0) ?? 0), 16777619) >>> 0;
  return mark;
};

/**
 * For `createTracker`'s option `cookieDomain`: one thread for all hosts of a site, such as `www.` and `app.`, in the cookie
 * `clew`. It holds the thread, how many there were before, and a number by which it is seen that somebody else has been
 * identified meanwhile; no primary key.
 *
 * @param domain that all hosts share, e.g. `example.com`; `auto` finds the widest one that the browser allows
 * @throws TypeError when the domain is no non-empty string
 */
export const cookieDomain = (domain: string): SharedVisitor => {
  if (typeof domain !== 'string' || !domain)
    throw new TypeError(`clew: cookieDomain: expected a domain or 'auto', not ${domain}`);
  const cookie = createCookie('clew', domain);
  let isRefused = false;
  const read = () => {
    const [thread, turn, mark] = cookie.read()?.split('.') ?? [];
    return { thread, turn: ~~Number(turn), mark };
  };
  return {
    meet(here, service) {
      const { thread, turn, mark } = read();
      const isSame = thread === here.thread;
      // The latest thread counts: an answer of the relay that comes late sets an earlier one once more.
      if (!isThread(thread) || turn < here.turn || (isSame && (!mark || here.keys[service]))) return here;
      return { ...here, thread, turn, keys: { ...(isSame && here.keys), ...(mark && { [service]: [Number(mark)] }) } };
    },
    tell(visitor, fail) {
      const there = read();
      const { thread = '', turn = 0, keys = {} } = visitor ?? {};
      const [key] = Object.values(keys)[0] ?? [];
      const mark = typeof key === 'string' ? markOf(key) : (key ?? '');
      if (thread && isThread(there.thread) && turn <= there.turn && (thread !== there.thread || !mark)) return;
      if (isRefused || cookie.write(thread && `${thread}.${turn}.${mark}`)) return;
      isRefused = true;
      fail('cookieDomain: expected a domain of this page, and cookies to be allowed');
    },
    knows: (key, primaryKey) => key === markOf(primaryKey),
  };
};
