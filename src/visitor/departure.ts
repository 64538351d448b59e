import { withoutLink } from '../page/address.js';
import { followedLink } from '../page/followedLink.js';
import type { Visitor } from './record.js';

/**
 * Adds the parameter of `linkDomains` to links during their clicks.
 *
 * @param isLinked whether a host is one of the domains
 * @param known returns the visitor, if the tracker knows the visitor
 * @returns `watch` listens to clicks until its returned function is called. `renew` gives the links of a click another visitor.
 */
export const createDeparture = (isLinked: (link: HTMLAnchorElement) => boolean, known: () => Visitor | undefined) => {
  /** Links during their clicks, each with its own address and the address with the parameter. */
  const followed = new Map<HTMLAnchorElement, readonly [own: string, linked: string]>();

  /** Whether it opens a page of another site. Within a host the visitor is known, and a signed download would become invalid. */
  const isOther = (link: HTMLAnchorElement): boolean =>
    /^http/.test(link.protocol) && !link.hasAttribute('download') && isLinked(link) && link.host !== location.host;

  const decorate = (link: HTMLAnchorElement) => {
    const visitor = known();
    if (!visitor || !isOther(link)) return;
    // The page may have made the link from its own address during an earlier click.
    const own = withoutLink(link.getAttribute('href') as string);
    link.setAttribute('href', own);
    // Not before the visitor's last change.
    const time = Math.ceil(Date.now() / 1000).toString(36);
    const mark = Object.keys(visitor.keys)[0] ? '.1' : '';
    link.search = `clew_link=${visitor.thread}.${time}${mark}${link.search.replace('?', '&')}`;
    followed.set(link, [own, link.href]);
  };

  const restore = () => {
    for (const [link, [own, linked]] of followed) {
      const now = link.getAttribute('href');
      // The page may have changed it during the click.
      if (now !== null) link.setAttribute('href', link.href === linked ? own : withoutLink(now));
    }
    followed.clear();
  };

  const follow = (event: Event) => {
    const link = followedLink(event);
    // The page may click it again within the click.
    if (!link || followed.get(link)?.[1] === link.href) return;
    decorate(link);
    // The browser follows it when all listeners have received the click.
    setTimeout(restore);
  };

  const watch = () => {
    // Before the page's own listeners, which may open the link themselves.
    const listening = Object.assign(new AbortController(), { capture: true });
    for (const type of ['click', 'auxclick']) addEventListener(type, follow, listening);
    return () => listening.abort();
  };

  const renew = () => {
    const links = [...followed.keys()];
    restore();
    links.forEach(decorate);
  };

  return [watch, renew] as const;
};
