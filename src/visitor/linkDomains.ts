import { LINK_PARAMETER, withoutLink } from '../page/address.js';
import { followedLink } from '../page/followedLink.js';
import { isVisitorId, type Visitor } from './record.js';

/**
 * Shares the visitor id with sites on other domains, through links.
 *
 * @param service the service to which the visitor belongs
 * @param known returns the visitor for links, if the tracker knows the visitor
 * @returns `arrive` removes the parameter from the address. If it accepts the parameter, it returns a function that maps the
 * visitor of this site to the visitor of the link, unless this site has identified the visitor. `watch` adds the parameter to
 * links until its returned function is called.
 */
export type LinkDomains = (
  service: string,
  known: () => Visitor | undefined,
) => readonly [arrive: () => ((visitor: Visitor) => Visitor) | undefined, watch: () => () => void];

/** How old (s) that may be as the page begins to load, and how far ahead: the clock may have been set meanwhile. */
const MAX_AGE = 120;
/** Stands for a primary key that another site knows. */
const ELSEWHERE = 1;

/** What `linkDomains` makes of domains that are in order. */
export const linkTo =
  (domains: readonly string[]): LinkDomains =>
  (service, known) => {
    const isLinked = ({ hostname }: { hostname: string }): boolean =>
      domains.some((domain) => `.${hostname}`.endsWith(`.${domain}`));

    const arrive = () => {
      const { href } = location;
      const { referrer } = document;
      const [all, , value = ''] = LINK_PARAMETER.exec(href) ?? [];
      const [thread, time, mark] = value.split('.');
      // An app's router may keep something in the state.
      if (all) history.replaceState(history.state, '', withoutLink(href));
      // Since the page began to load: consent may come late. `performance.timeOrigin` is wrong after the machine has slept.
      const age = (Date.now() - performance.now()) / 1000 - Number.parseInt(time as string, 36);
      if (!isVisitorId(thread) || !(Math.abs(age) <= MAX_AGE) || (referrer && !isLinked(new URL(referrer)))) return;
      return (visitor: Visitor): Visitor =>
        Object.keys(visitor.keys)[0]
          ? visitor
          : // Who identifies here may be somebody else than there: then they get a visitor id of their own.
            { ...visitor, thread, turn: visitor.turn + 1, keys: mark ? { [service]: [ELSEWHERE] } : {} };
    };

    const watch = () => {
      // Before the page's own listeners, which may open the link themselves.
      const listening = Object.assign(new AbortController(), { capture: true });
      const decorate = (event: Event) => {
        const link = followedLink(event);
        const visitor = known();
        // It may be clicked again within the click, by the page. Within a host the visitor is known.
        if (!visitor || !link || !isLinked(link) || link.host === location.host || LINK_PARAMETER.test(link.search))
          return;
        const href = link.getAttribute('href') as string;
        const time = Math.floor(Date.now() / 1000).toString(36);
        const mark = Object.keys(visitor.keys)[0] ? '.1' : '';
        link.search = `clew_link=${visitor.thread}.${time}${mark}${link.search.replace('?', '&')}`;
        const { href: linked } = link;
        // The browser follows it when all listeners have heard the click. The page may have changed it meanwhile.
        setTimeout(() => {
          const now = link.getAttribute('href');
          if (now !== null) link.setAttribute('href', link.href === linked ? href : withoutLink(now));
        });
      };
      for (const type of ['click', 'auxclick']) addEventListener(type, decorate, listening);
      return () => listening.abort();
    };

    return [arrive, watch];
  };

/**
 * Creates the value of `createTracker`'s option `linkDomains`, which shares one visitor id between sites on different domains.
 * Each site lists the others. During a click on a link to one of these domains, or to a subdomain, clew adds the parameter
 * `clew_link` to the link. The tracker of the other site reads the parameter when it starts, and removes it from the address.
 *
 * The other site accepts a parameter that is at most two minutes old. If the browser sends a referrer, it must be one of the
 * domains. docs/privacy.md describes the remaining risk.
 *
 * @param domains the domains of the other sites, in lower-case ASCII
 * @throws TypeError if the value is not a list of domains
 * @example createTracker({ baseUrl: '/clew', linkDomains: linkDomains(['shop.example', 'help.example']) })
 */
export const linkDomains = (domains: readonly string[]): LinkDomains => {
  if (!Array.isArray(domains) || !domains.every((domain) => /^[a-z\d-]+(\.[a-z\d-]+)*$/.test(domain)))
    throw new TypeError(`clew: linkDomains: expected a list of domains such as 'shop.example', not ${domains}`);
  return linkTo(domains);
};
