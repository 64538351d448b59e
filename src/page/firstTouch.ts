import type { Plugin } from '../api/types.js';
import { IDENTIFY } from '../wire.js';

/** Options of `firstTouch`. */
export interface FirstTouchOptions {
  /**
   * The parameters of the landing page's address that name a campaign.
   *
   * @default ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content']
   * @example ['utm_source', 'gclid']
   */
  parameters?: readonly string[] | undefined;
}

/** Campaign, referrer and landing page of the first visit, under the names of the customer's properties. */
type Touch = Record<string, string>;

/** The touch until a customer has it, with its visitor id. Any code of the origin may have written it. */
interface Kept {
  readonly id?: unknown;
  readonly touch?: Touch | undefined;
}

const KEY = 'firstTouch';
const UTM = ['source', 'medium', 'campaign', 'term', 'content'].map((name) => `utm_${name}`);
/** The most characters of a value, because any site can link with a long one. */
const MOST = 500;

/** An address without its query and fragment, which may have personal data. */
const placeOf = (address: string): string => address.replace(/[?#].*/s, '');

/** The touch by the page's address and referrer. A referrer of the site itself does not count. */
const touchHere = (parameters: readonly string[]): Touch => {
  const { origin, pathname, search } = location;
  const { referrer } = document;
  const query = new URLSearchParams(search);
  const found: [name: string, value: string | null][] = [
    ...parameters.map((name): [string, string | null] => [name, query.get(name)]),
    ['referrer', referrer.startsWith(`${origin}/`) ? null : placeOf(referrer)],
    ['landing_page', origin + pathname],
  ];
  return Object.fromEntries(found.flatMap(([name, value]) => (value ? [[`first_${name}`, value.slice(0, MOST)]] : [])));
};

/**
 * Creates a plugin that remembers the campaign, the referrer and the landing page of the first visit. Once the visitor is identified,
 * the plugin sets them as properties of the customer, such as `first_utm_source`, `first_referrer` and `first_landing_page`. The
 * plugin also tracks the event `first_touch` with the same properties. A refusal or a `reset()` before `identify` discards these
 * properties.
 *
 * @param options defines which parameters of the address to take
 * @example createTracker({ baseUrl: '/clew', plugins: [firstTouch()] })
 */
export const firstTouch =
  ({ parameters = UTM }: FirstTouchOptions = {}): Plugin =>
  ({ on, correlationValue, setProperties, track }, { local, service, visitorId }) => {
    // The customer of each service gets it.
    const key = `${KEY} ${service}`;
    const kept = (): Kept => Object(local.get(key));
    const isFirst = local.get(key) === undefined;
    const touch = touchHere(parameters);
    const early = visitorId();
    const keep = (id: string | undefined) => {
      const { id: owner, touch: other } = kept();
      if (isFirst && owner === early) local.set(key, { id, touch });
      // The touch of an earlier visitor must not go to the next one.
      else if (other && owner !== id) local.set(key, {});
    };
    // The page may leave before the visitor is certain.
    if (isFirst) local.set(key, { id: early, touch });
    const known = correlationValue().then(keep, () => {});

    const give = (id: unknown) => {
      const { id: owner, touch: given } = kept();
      // The visitor may be another one since.
      if (!given || owner !== id || id !== visitorId() || !local.set(key, { id })) return;
      setProperties(given);
      track('first_touch', given);
    };
    /** The visitor id of the last `$identify` of this page. */
    let identified: unknown;
    const giveNow = () => give(identified);
    // The properties follow an `$identify` only. A customer of earlier visits has had another first visit.
    const off = on('trace', (trace) => {
      if (trace.step !== 'tracked' || trace.event.event !== IDENTIFY) return;
      identified = trace.event.correlationValue;
      known.then(giveNow);
    });
    // A page that leaves before the database has answered makes its `$identify` then, in the tracker's listener of this event.
    globalThis.addEventListener?.('pagehide', giveNow);
    const end = () => {
      off();
      globalThis.removeEventListener?.('pagehide', giveNow);
    };
    // A listener costs something for each event.
    known.then(() => kept().touch || end());
    return end;
  };
