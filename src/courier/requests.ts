import type { Settings } from '../api/options.js';
import { EVENT_PATH, HANDOVER } from '../wire.js';
import type { Batch } from './cut.js';
import type { TransportRequest } from './transport.js';

/** Makes requests of batches, with the address and the headers that the options ask for. */
export const createRequests =
  ({ baseUrl, eventsUrl, apiKey, cookieDomain }: Settings) =>
  ({ path, body, handover }: Batch, leaving: boolean, packed?: Uint8Array<ArrayBuffer>): TransportRequest => ({
    url: (path === EVENT_PATH ? eventsUrl : baseUrl) + path + (handover ? `?${HANDOVER}=${handover}` : ''),
    body: packed ?? body,
    headers: {
      'Content-Type': 'application/json',
      ...(packed && { 'Content-Encoding': 'gzip' }),
      ...(apiKey && { Authorization: `Api-Key ${apiKey}` }),
    },
    leaving,
    ...(cookieDomain && { credentials: 'same-origin' as const }),
  });
