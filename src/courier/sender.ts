import type { Settings } from '../api/options.js';
import type { Trace } from '../api/signals.js';
import { idOf } from '../recorder/event.js';
import type { Batch } from './cut.js';
import { createRequests } from './requests.js';
import { fetchAtEnd, fetchTransport, gzip } from './transport.js';

/**
 * How batches leave the page.
 *
 * @param onCookie a relay's answer may have set the cookie of `cookieDomain` again
 */
export const createSender = (settings: Settings, trace: (make: () => Trace) => void, onCookie: () => void) => {
  const { transport = fetchTransport } = settings;
  const requestOf = createRequests(settings);
  return {
    pack: async (body: string) => (settings.compress ? gzip(body) : undefined),
    send(...sent: Parameters<typeof requestOf>) {
      const answer = transport(requestOf(...sent));
      const [{ items, path, bytes }, leaving, packed] = sent;
      if (!answer) return false;
      trace(() => ({ step: 'sent', uuids: items.map(idOf), path, bytes, gzip: packed?.length, leaving }));
      if (settings.cookieDomain) answer.then(onCookie, onCookie);
      return answer;
    },
    // Somebody else's transport knows of answers only.
    defer: (batch: Batch) => (settings.transport ? () => {} : fetchAtEnd(requestOf(batch, true))),
  };
};
