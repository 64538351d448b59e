import type { Batch } from '../courier/cut.js';
import type { Link } from '../courier/lease.js';
import type { Answer } from '../courier/transport.js';
import { type ItemText, idOf } from '../recorder/event.js';
import type { Visitor } from '../visitor/record.js';
import type { Trace } from './signals.js';

/** Emits the steps of events, of the link and of the visitor as `trace`. */
export const createTraces = (emit: (signal: 'trace', make: () => Trace) => void, service: string) => {
  const trace = (make: () => Trace) => emit('trace', make);
  return {
    tracked: (text: ItemText) => trace(() => ({ step: 'tracked', event: JSON.parse(text) })),
    stored: (items: readonly ItemText[]) => items[0] && trace(() => ({ step: 'stored', uuids: items.map(idOf) })),
    sent: ({ items, path, bytes }: Batch, leaving: boolean, packed?: Uint8Array) =>
      trace(() => ({ step: 'sent', uuids: items.map(idOf), path, bytes, gzip: packed?.length, leaving })),
    answered: (uuids: string[], answer: Answer) => trace(() => ({ step: 'answered', uuids, ...answer })),
    link: (link: Link, tab: string) => trace(() => ({ step: 'link', tab, ...link })),
    visitor: (visitor?: Visitor) =>
      trace(() => ({ step: 'visitor', visitorId: visitor?.thread, primaryKey: visitor?.keys[service]?.[0] })),
  };
};
