import type { Job, RelayedEvent } from './job.js';
import { Refusal } from './request.js';

/** A body to forward, and its events. */
export interface Part {
  readonly events: readonly RelayedEvent[];
  readonly body: string;
}

const utf8 = new TextEncoder();

/**
 * The bodies that forward these events, in order. The relay's fields, and numbers that `JSON.stringify` writes longer than they
 * came (1e21 as 22 characters), can make a body of a good request larger than the service takes. That body is halved.
 *
 * @param bare removes the relay's fields from an event that has no room for them
 * @throws Refusal 413 for a single event that is too large without them
 */
export const partsOf = (
  { bodyOf }: Pick<Job, 'bodyOf'>,
  events: readonly RelayedEvent[],
  maxBodyBytes: number,
  bare: (event: RelayedEvent) => RelayedEvent,
): Part[] => {
  // No character of UTF-16 takes more than three bytes of UTF-8.
  const fits = (body: string) => 3 * body.length <= maxBodyBytes || utf8.encode(body).length <= maxBodyBytes;
  const split = (some: readonly RelayedEvent[]): Part[] => {
    const body = bodyOf(some);
    if (body === undefined) return [];
    if (fits(body)) return [{ events: some, body }];
    const middle = Math.ceil(some.length / 2);
    if (some.length > 1) return [...split(some.slice(0, middle)), ...split(some.slice(middle))];
    const least = some.map(bare);
    const smaller = bodyOf(least);
    if (smaller === undefined || !fits(smaller))
      throw new Refusal(413, `expected events of at most ${maxBodyBytes} bytes as the relay writes them`);
    return [{ events: least, body: smaller }];
  };
  return split(events);
};
