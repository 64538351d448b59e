import type { Mutant } from './mutant.ts';

/** What is sent, when, and what an answer means. */
export const deliveryMutants: readonly Mutant[] = [
  {
    name: 'sends without the lease',
    file: 'courier/courier.ts',
    find: 'if (link.by !== tab() || (entries[0] && !written)) break;',
    replace: 'if (entries[0] && !written) break;',
  },
  {
    name: 'takes the lease for less time than a request needs',
    file: 'courier/lease.ts',
    find: 'const LEASE = REQUEST_TIMEOUT + 2 * SECOND;',
    replace: 'const LEASE = SECOND;',
  },
  {
    name: 'respects the lease of a tab that has crashed for ever',
    file: 'courier/lease.ts',
    find: 'by === tab || until > now + (by ? LEASE : HOUR) ? 0 : Math.max(until - now, 0);',
    replace: 'by === tab ? 0 : by ? LEASE : until > now + HOUR ? 0 : Math.max(until - now, 0);',
  },
  {
    name: 'ignores Retry-After',
    file: 'courier/transport.ts',
    find: "retryAfter: parseRetryAfter(response.headers.get('Retry-After')),",
    replace: 'retryAfter: 0,',
  },
  {
    name: 'does not back off',
    file: 'courier/lease.ts',
    find: 'Math.min(Math.max(wait, retryAfter), HOUR)',
    replace: 'Math.min(Math.max(wait * 0, retryAfter), HOUR)',
  },
  {
    name: 'waits for an answer without a time-out',
    file: 'courier/transport.ts',
    find: 'AbortSignal.timeout(REQUEST_TIMEOUT)',
    replace: 'new AbortController().signal',
  },
  {
    name: 'hands nothing over at pagehide',
    file: 'courier/courier.ts',
    find: 'for (let room = KEEPALIVE_QUOTA - flying; navigator.onLine; ) {',
    replace: 'for (let room = KEEPALIVE_QUOTA - flying; navigator.onLine && !isAway; ) {',
  },
  {
    name: 'counts as delivered what it has handed over for a relay',
    file: 'courier/courier.ts',
    find: 'if (isDirect && isProven(link, now()) && !isOn(search))',
    replace: 'if (isProven(link, now()) && !isOn(search))',
  },
  {
    name: 'hands over more than the browser takes',
    file: 'courier/courier.ts',
    find: 'const answer = batch && batch.bytes <= room && send(batch, true);',
    replace: 'const answer = batch && send(batch, true);',
  },
  {
    name: 'drops a rejected batch instead of the rejected event',
    file: 'courier/bisect.ts',
    find: 'if (status === 413) search.largest = search.most;\n    return SEARCH;',
    replace: 'return SETTLED;',
  },
  {
    name: 'takes 429 for a rejected event',
    file: 'courier/transport.ts',
    find: '/400|413|415|422/',
    replace: '/400|413|415|422|429/',
  },
  {
    name: 'sends the newest events first',
    file: 'courier/courier.ts',
    find: '(stored.size ? stored : queue.items).values()];',
    replace: '(stored.size ? stored : queue.items).values()].reverse();',
  },
  {
    name: 'counts delivered events twice',
    file: 'api/ledger.ts',
    find: 'counts.delivered += length;',
    replace: 'counts.delivered += 2 * length;',
  },
  {
    name: 'counts dropped events as queued',
    file: 'api/ledger.ts',
    find: 'counts.queued -= length;',
    replace: 'if (!reason) counts.queued -= length;',
  },
  {
    name: 'never settles flush() after a failure',
    file: 'courier/courier.ts',
    find: '    return current;\n',
    replace: '    return current.then(() => (link.fails ? new Promise<void>(() => {}) : undefined));\n',
  },
  {
    name: 'stays away after the back/forward cache',
    file: 'courier/courier.ts',
    find: '      isAway = false;\n',
    replace: '',
  },
];
