import type { Job, RelayedEvent } from './job.js';
import { Refusal } from './request.js';

const utf8 = new TextEncoder();

/**
 * The body that forwards these events, or undefined if there is none. The service may refuse a body as too large although the page's
 * request was not. The relay adds fields, and `JSON.stringify` writes some numbers longer, for example 1e21 as 22 characters. Then
 * the events go without the relay's fields.
 *
 * @param bare removes the relay's fields from an event
 * @throws Refusal 413 if the body is too large without them
 */
export const bodyFor = (
  { bodyOf }: Pick<Job, 'bodyOf'>,
  events: readonly RelayedEvent[],
  maxBodyBytes: number,
  bare: (event: RelayedEvent) => RelayedEvent,
): string | undefined => {
  // No character of UTF-16 takes more than three bytes of UTF-8.
  const fits = (body: string) => 3 * body.length <= maxBodyBytes || utf8.encode(body).length <= maxBodyBytes;
  const body = bodyOf(events);
  if (body === undefined || fits(body)) return body;
  const smaller = bodyOf(events.map(bare));
  if (smaller !== undefined && fits(smaller)) return smaller;
  throw new Refusal(413, `expected events of at most ${maxBodyBytes} bytes as the relay writes them`);
};
