import { followedLink } from '../page/followedLink.js';
import { isThread, type Visitor } from './visitor.js';

/**
 * Hands the visitor's thread over to sites on other domains, by their links.
 *
 * @param service whose visitor it is
 * @param known whom links are to name, if that is known
 * @returns `arrive` takes what a link has brought, and leaves the address without it; if it is believed, it returns a function
 * that says who a visitor of this site now is: whoever the link names, unless they are identified here. `watch` watches links,
 * until the function is called that it returns.
 */
export type LinkDomains = (
  service: string,
  known: () => Visitor | undefined,
) => readonly [arrive: () => ((visitor: Visitor) => Visitor) | undefined, watch: () => () => void];

/** A thread, the time (s, base 36), and 1 if it is identified. */
const PARAMETER = /([?&])clew_link=([^&#]*)(&?)/;
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
      const [all, before, value = '', after] = PARAMETER.exec(href) ?? [];
      const [thread, time, mark] = value.split('.');
      // An app's router may keep something in the state.
      if (all) history.replaceState(history.state, '', href.replace(all, (after && before) as string));
      // Since the page began to load: consent may come late. `performance.timeOrigin` is wrong after the machine has slept.
      const age = (Date.now() - performance.now()) / 1000 - Number.parseInt(time as string, 36);
      if (!isThread(thread) || !(Math.abs(age) <= MAX_AGE) || (referrer && !isLinked(new URL(referrer)))) return;
      return (visitor: Visitor): Visitor =>
        Object.keys(visitor.keys)[0]
          ? visitor
          : // Who identifies here may be somebody else than there: then they are given a thread of their own.
            { ...visitor, thread, turn: visitor.turn + 1, keys: mark ? { [service]: [ELSEWHERE] } : {} };
    };

    const watch = () => {
      // Before the page's own listeners, which may open the link themselves.
      const listening = Object.assign(new AbortController(), { capture: true });
      const decorate = (event: Event) => {
        const link = followedLink(event);
        const visitor = known();
        // It may be clicked again within the click, by the page.
        if (!visitor || !link || !isLinked(link) || PARAMETER.test(link.search)) return;
        const href = link.getAttribute('href') as string;
        const time = Math.floor(Date.now() / 1000).toString(36);
        const mark = Object.keys(visitor.keys)[0] ? '.1' : '';
        link.search = `clew_link=${visitor.thread}.${time}${mark}${link.search.replace('?', '&')}`;
        // The browser follows it when all listeners have heard the click.
        setTimeout(() => link.setAttribute('href', href));
      };
      for (const type of ['click', 'auxclick']) addEventListener(type, decorate, listening);
      return () => listening.abort();
    };

    return [arrive, watch];
  };

/**
 * For `createTracker`'s option `linkDomains`: one thread over sites on different domains, each of which names the others. For
 * the moment of a click on a link to one of them, or to a subdomain, the link has a parameter `clew_link`. The other site
 * reads it as it starts, and takes it out of the address.
 *
 * It is believed if it is at most two minutes old, and the browser, if it tells a referrer, names one of the domains. What that
 * does not keep out is in docs/privacy.md.
 *
 * @param domains of the other sites: ASCII, lower case
 * @throws TypeError when it is no list of domains
 * @example createTracker({ baseUrl: '/clew', linkDomains: linkDomains(['shop.example', 'help.example']) })
 */
export const linkDomains = (domains: readonly string[]): LinkDomains => {
  if (!Array.isArray(domains) || !domains.every((domain) => /^[a-z\d.-]+$/.test(domain)))
    throw new TypeError(`clew: linkDomains: expected a list of domains such as 'shop.example', not ${domains}`);
  return linkTo(domains);
};
