import type { Settings } from '../api/options.js';
import type { Batch } from './cut.js';
import { FLIGHT } from './flight.js';
import { createRequests } from './requests.js';
import { fetchAtEnd, fetchTransport, gzip } from './transport.js';

/**
 * How batches leave the page.
 *
 * @param onCookie a relay's answer may have set the cookie of `cookieDomain` again
 */
export const createSender = (
  settings: Settings,
  onSent: (...sent: Parameters<ReturnType<typeof createRequests>>) => void,
  onCookie: () => void,
) => {
  const { transport = fetchTransport } = settings;
  const requestOf = createRequests(settings);
  return {
    flight: FLIGHT,
    pack: async (body: string) => (settings.compress ? gzip(body) : undefined),
    send(...sent: Parameters<typeof requestOf>) {
      const answer = transport(requestOf(...sent));
      if (!answer) return false;
      onSent(...sent);
      if (settings.cookieDomain) answer.then(onCookie, onCookie);
      return answer;
    },
    // An app's own transport returns answers, and cannot take a request back.
    defer: (batch: Batch) => (settings.transport ? undefined : fetchAtEnd(requestOf(batch, true))),
  };
};
