import type { Trace } from '../api/signals.js';
import type { Plugin } from '../api/types.js';
import { IDENTIFY, jsonOf, type WireEvent } from '../wire.js';

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
  /** The `uuid` of the `$identify` that the touch has followed. It is '' after that `$identify` was dropped. */
  readonly followed?: string | undefined;
}

type Answered = Extract<Trace, { step: 'answered' }>;

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
 * the plugin sets them as properties of the customer, such as `first_utm_source`, `first_referrer` and `first_landing_page`. It also
 * tracks the event `first_touch` with the same properties. If that `$identify` is rejected, the properties follow the next one of the
 * same visitor id. A refusal discards them, and so does a `reset()` before `identify`.
 *
 * @param options defines which parameters of the address to take
 * @example createTracker({ baseUrl: '/clew', plugins: [firstTouch()] })
 */
export const firstTouch =
  ({ parameters = UTM }: FirstTouchOptions = {}): Plugin =>
  ({ on, correlationValue, setProperties, track }, { local, visitorId }) => {
    const kept = (): Kept => Object(local.get(KEY));
    const isFirst = local.get(KEY) === undefined;
    const touch = touchHere(parameters);
    const early = visitorId();
    const keep = (id: string | undefined) => {
      const { id: owner, touch: other } = kept();
      if (isFirst && owner === early) local.set(KEY, { id, touch });
      // The touch of an earlier visitor must not go to the next one.
      else if (other && owner !== id) local.set(KEY, {});
    };
    // The page may leave before the visitor is certain.
    if (isFirst) local.set(KEY, { id: early, touch });
    const known = correlationValue().then(keep, () => {});

    const give = ({ correlationValue: id, uuid }: Partial<WireEvent>) => {
      const { id: owner, touch, followed } = kept();
      // The visitor may be another one since.
      if (!touch || followed || owner !== id || id !== visitorId() || !local.set(KEY, { id, touch, followed: uuid }))
        return;
      setProperties(touch);
      // The visitor id has the event already if an earlier `$identify` was dropped.
      if (followed === undefined) track('first_touch', touch);
    };
    /** The `$identify` has arrived, perhaps from an earlier page or another tab. */
    const use = ({ uuids, outcome, rejected }: Answered) => {
      const { id, followed } = kept();
      if (outcome !== 'delivered' || !followed || !uuids.includes(followed)) return;
      // The service's answers have no fixed form: `rejected` may be anything.
      if (!jsonOf(rejected ?? '').includes(followed)) local.set(KEY, { id });
    };
    // The properties follow an `$identify` only. A customer of earlier visits has had another first visit.
    const unwatch = on('trace', (trace) => {
      if (trace.step === 'answered') use(trace);
      else if (trace.step === 'tracked' && trace.event.event === IDENTIFY) known.then(() => give(trace.event));
    });
    const unwatchDrops = on('dropped', ({ events }) => {
      const { id, touch, followed } = kept();
      if (followed && events.some(({ uuid }) => uuid === followed)) local.set(KEY, { id, touch, followed: '' });
    });
    const off = () => {
      unwatch();
      unwatchDrops();
    };
    // A listener costs something for each event.
    known.then(() => kept().touch || off());
    return off;
  };
