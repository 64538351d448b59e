import { checkCatalogue } from '../catalogue/checkCatalogue.js';
import { eventNamed, payloadFault } from '../catalogue/fits.js';
import type { Catalogue } from '../catalogue/schema.js';
import { IDENTIFY } from '../wire.js';
import type { AcceptableEvent } from './accept.js';

/** The reason of an event that no catalogue has. */
const UNKNOWN = 'event: expected one of the catalogue';

/** Why an event does not fit, or true. */
const verdict = ({ anyOf, $defs = {} }: Catalogue, { event, payload }: AcceptableEvent): true | string => {
  const own = eventNamed(anyOf, event);
  return own ? (payloadFault(own, payload, $defs) ?? true) : UNKNOWN;
};

/**
 * Creates an `accept` that drops events that the catalogue does not have, and events whose payload does not fit. The reason names the
 * property and the expected values, and never the value that arrived. `$identify` always passes. Properties that the catalogue does
 * not have are accepted.
 *
 * @param catalogues the content of the file that `npx clew catalogue` writes. An event that fits one of several is accepted, so that
 * pages and queues from before a deployment can still send
 * @throws TypeError for anything but a catalogue
 * @example createRelay({ baseUrl: 'https://service.example', apiKey: 'key', accept: catalogue(events) })
 */
export const catalogue = (...catalogues: readonly object[]): ((event: AcceptableEvent) => true | string) => {
  if (!catalogues[0]) throw new TypeError('catalogue: expected a catalogue');
  const all = catalogues.map(checkCatalogue);
  return (event) => {
    if (event.event === IDENTIFY) return true;
    const verdicts = all.map((one) => verdict(one, event));
    if (verdicts.includes(true)) return true;
    return verdicts.find((text) => text !== UNKNOWN) ?? UNKNOWN;
  };
};
