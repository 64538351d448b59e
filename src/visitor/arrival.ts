import { LINK, readEntry, writeEntry } from '../outbox/local.js';
import { linkIn, withoutLink } from '../page/address.js';
import { isVisitorId, type Visitor, versionAt } from './record.js';

/** How old (s) a link may be as the page begins to load, and how far ahead: the clock may have been set meanwhile. */
const MAX_AGE = 120;
/** Stands for a primary key that another site knows. */
const ELSEWHERE = 1;

/** Removes the parameter from the page's address. An app's router may keep something in the state. */
const clean = () => {
  const { href } = location;
  if (linkIn(href) !== undefined) history.replaceState(history.state, '', withoutLink(href));
};

/**
 * Reads the link of `linkDomains` that has opened the page.
 *
 * @param isLinked whether a host is one of the domains
 * @returns `arrive` gives what the link makes of the visitor of this site, if it is valid, until a visitor has met it. `forget`
 * ignores the link from then on.
 */
export const createArrival = (isLinked: (from: URL) => boolean, service: string) => {
  let isUsed = false;

  /** The parameter of the link that has opened this page, or a page of this site that has sent the visitor on at once. */
  const find = (): unknown => {
    const { referrer } = document;
    const from = referrer && new URL(referrer);
    const passed = from && from.origin === location.origin && linkIn(referrer);
    // A router may bring the parameter back into the address, but not into the one from which the browser has loaded the page.
    const [{ name } = { name: location.href }] = performance.getEntriesByType?.('navigation') ?? [];
    return ((!from || isLinked(from) || passed) && linkIn(name)) || readEntry(LINK) || passed;
  };

  const arrive = (): ((visitor: Visitor) => Visitor) | undefined => {
    const value = isUsed ? '' : `${find()}`;
    clean();
    const [visitorId, time, mark] = value.split('.');
    const seconds = Number.parseInt(time as string, 36);
    // Since the page began to load: consent may come late. `performance.timeOrigin` is wrong after the machine has slept.
    const age = (Date.now() - performance.now()) / 1000 - seconds;
    const isValid = isVisitorId(visitorId) && Math.abs(age) <= MAX_AGE;
    // The page may leave before the database has answered.
    writeEntry(LINK, undefined, isValid && value);
    if (!isValid) return;
    return (visitor) => {
      isUsed = true;
      writeEntry(LINK);
      const { keys, turn } = visitor;
      const version = versionAt(seconds * 1000);
      const isSame = visitorId === visitor.thread;
      // The tracker of another service may have taken the id from this link already.
      const isTaken = isSame && version === turn;
      // Another site's id may be of a former customer there. A visitor who is identified here, or was reset since, keeps the id.
      const isKept = version < turn || Object.values(keys).some(([key]) => key !== ELSEWHERE);
      if (isKept && !isTaken) return visitor;
      return {
        ...visitor,
        thread: visitorId,
        turn: isSame ? turn : Math.max(version, turn + 1),
        // The next `identify` here may be for another person than there. Then it starts a new visitor id.
        keys: { ...(mark && { [service]: [ELSEWHERE] }), ...(isSame && keys) },
      };
    };
  };

  const forget = () => {
    isUsed = true;
    clean();
  };

  return [arrive, forget] as const;
};
