import type { Answer, ForwardRequest } from './forward.js';

/** The relay retries a failed beacon after these waits (ms), or up to half earlier. The page cannot, because it cannot read the answer. */
const BEACON_RETRIES = [200, 1000];

export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The longest time from the reservation of a beacon's events to the service's last answer, in ms. */
export const longestForwarding = (timeout: number): number =>
  // `seen` and `accept` may take as long as the service to answer.
  Math.ceil(timeout * (BEACON_RETRIES.length + 3)) + BEACON_RETRIES.reduce((all, wait) => all + wait, 0);

/**
 * Whether the service may take the request later. The service answers 500 after it has stored the events before a rejected one: to
 * retry would store those again. With `Retry-After`, the service asks for a longer wait.
 */
const isPassing = ({ status, retryAfter }: Answer): boolean =>
  status === 502 || status === 504 || (status === 503 && !retryAfter);

/** Forwards a beacon, and again if there is no answer or one that will pass, until `isOver`. */
export const forwardBeacon = async (
  forward: (request: ForwardRequest) => Promise<Answer>,
  request: ForwardRequest,
  isOver: () => boolean | Promise<boolean>,
): Promise<Answer> => {
  let answering = forward(request);
  for (const wait of BEACON_RETRIES) {
    const isWorthRetrying = await answering.then(isPassing, () => true);
    if (!isWorthRetrying || (await isOver())) break;
    await pause(wait * (1 - Math.random() / 2));
    // Again: the next page may have sent newer properties meanwhile.
    if (await isOver()) break;
    answering = forward(request);
  }
  return answering;
};
