import { createArrival } from './arrival.js';
import { createDeparture } from './departure.js';
import type { Visitor } from './record.js';

/**
 * Shares the visitor id with sites on other domains, through links.
 *
 * @param service the service to which the visitor belongs
 * @param known returns the visitor for links, if the tracker knows the visitor
 * @returns `arrive` removes the parameter from the address. If it accepts the link that has opened the page, it returns a function.
 * That function maps the visitor of this site to the visitor of the link, unless this site has identified or reset the visitor since.
 * `watch` adds the parameter to links until its returned function is called. `change` is to be called when the visitor is another
 * one, or has refused.
 */
export type LinkDomains = (
  service: string,
  known: () => Visitor | undefined,
) => readonly [arrive: () => ((visitor: Visitor) => Visitor) | undefined, watch: () => () => void, change: () => void];

/** A domain in lower-case ASCII. */
export const DOMAIN = /^[a-z\d-]+(\.[a-z\d-]+)*$/;

/** Makes the value of the option from valid domains. */
export const linkTo =
  (domains: readonly string[]): LinkDomains =>
  (service, known) => {
    const isLinked = ({ hostname }: { hostname: string }): boolean =>
      domains.some((domain) => `.${hostname}`.endsWith(`.${domain}`));
    const [arrive, forget] = createArrival(isLinked, service);
    const [watch, renew] = createDeparture(isLinked, known);
    const change = () => {
      renew();
      if (!known()) forget();
    };
    return [arrive, watch, change];
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
  if (!Array.isArray(domains) || !domains.every((domain) => DOMAIN.test(domain)))
    throw new TypeError(`clew: linkDomains: expected a list of domains such as 'shop.example', not ${domains}`);
  return linkTo(domains);
};
