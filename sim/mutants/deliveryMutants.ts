import type { Mutant } from './mutant.ts';

/** Mutants that send wrong batches, send at a wrong time, or misread an answer. */
export const deliveryMutants: readonly Mutant[] = [
  {
    name: 'sends without the lease',
    file: 'courier/read.ts',
    find: 'return desk.link.by === holder ? rows : undefined;',
    replace: 'return rows;',
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
    find: 'by === tab || end > now + (by ? LEASE : HOUR) ? 0 : Math.max(end - now, 0);',
    replace: 'by === tab ? 0 : by ? LEASE : end > now + HOUR ? 0 : Math.max(end - now, 0);',
  },
  {
    name: 'ignores Retry-After',
    file: 'courier/transport.ts',
    find: "retryAfter: parseRetryAfter(headers.get('Retry-After')),",
    replace: 'retryAfter: 0,',
  },
  {
    name: 'does not back off',
    file: 'courier/lease.ts',
    find: 'Math.min(Math.max(wait, asked), HOUR)',
    replace: 'Math.min(Math.max(wait * 0, asked), HOUR)',
  },
  {
    name: 'hands nothing over at pagehide',
    file: 'courier/handover.ts',
    find: 'while (navigator.onLine) {',
    replace: 'while (!navigator) {',
  },
  {
    name: 'counts as delivered what it has handed over for a relay',
    file: 'courier/courier.ts',
    find: 'if (isDirect && isSure && !isOn(bisection))',
    replace: 'if (isSure && !isOn(bisection))',
  },
  {
    name: 'sends again to a service what it has handed over on a proven link',
    file: 'courier/courier.ts',
    find: 'handed, []);\n',
    replace: '[], []);\n',
  },
  {
    name: 'hands over more than the browser takes',
    file: 'courier/handover.ts',
    find: 'nextIdle(KEEPALIVE_QUOTA - bytes - flight.bytes, false,',
    replace: 'nextIdle(1e9, false,',
  },
  {
    name: 'drops a rejected batch instead of the rejected event',
    file: 'courier/bisect.ts',
    find: 'if (ids[1]) return BISECT;',
    replace: 'if (ids[1]) return SETTLED;',
  },
  {
    name: 'takes 429 for a rejected event',
    file: 'courier/transport.ts',
    find: '/400|413|415|422/',
    replace: '/400|413|415|422|429/',
  },
  {
    name: 'sends the newest events first',
    file: 'courier/read.ts',
    find: '(rows[0] ? rows : queue.rows());',
    replace: '[...(rows[0] ? rows : queue.rows())].reverse();',
  },
  {
    name: 'accepts the 200 of another server',
    file: 'courier/transport.ts',
    find: 'if (status < 300 && isForeign)',
    replace: 'if (status < 0 && isForeign)',
  },
  {
    name: 'ends a pause that an answer has asked for when a page loads',
    file: 'courier/lease.ts',
    find: 'const end = isForced && !by && refused !== tab ? Math.min(asked, until) : until;',
    replace: 'const end = isForced && !by && refused !== tab ? asked * 0 : until;',
  },
  {
    name: 'goes on with a pass until the queue is empty',
    file: 'courier/scope.ts',
    find: '(key[3] === page ? key[2] <= latest : ',
    replace: '(key[2] + latest >= 0 || ',
  },
  {
    name: 'releases the lease of another tab when its page leaves',
    file: 'courier/courier.ts',
    find: "const isHeld = desk.link.by === holder && timeLeft(desk.link, '', Date.now()) > 0;",
    replace: 'const isHeld = !!settling;',
  },
  {
    name: 'hands over to a service that fails',
    file: 'courier/courier.ts',
    find: 'isDirect && isFailing(after, Date.now()) ? [] : handover.handOver();',
    replace: 'handover.handOver();',
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
    find: '    flush: passes.flush,\n',
    replace:
      '    flush: (...force) => passes.flush(...force).then(() => (desk.link.fails ? new Promise<void>(() => {}) : undefined)),\n',
  },
  {
    name: 'stays away after the back/forward cache',
    file: 'courier/courier.ts',
    find: "      desk.state = { holder: ports.makeName(), does: 'wait' };\n",
    replace: '',
  },
  {
    name: "counts a 2xx without the relay's header as delivered",
    file: 'courier/transport.ts',
    find: ': !headers.get(RELAY_HEADER);',
    replace: ': false;',
  },
  {
    name: 'hands over properties while older ones are unanswered',
    file: 'courier/handover.ts',
    find: '[...queue.items].some(([id, text]) => !isEvent(text) && isBusy(id));',
    replace: 'false;',
  },
  {
    name: 'sends long payloads without their texts',
    file: 'recorder/recorder.ts',
    find: 'draftEvent(at, name, payload, id);',
    replace: 'draftEvent(at, name, payload?.replace(/,"pad":"\\.*"/, \'\'), id);',
  },
  {
    name: 'without a relay, forgets what it hands over although no service has answered yet',
    file: 'courier/courier.ts',
    find: 'if (isDirect && isSure && !isOn(bisection))',
    replace: 'if (isDirect && !isOn(bisection))',
  },
  {
    name: 'drops an event at its first 500',
    file: 'courier/bisect.ts',
    find: '  bisection.most = ids[1] ? bytes >> 1 : 1;\n',
    replace: '  bisection.most = ids[1] ? bytes >> 1 : 1;\n  if (!ids[1] && status === 500) return SETTLED;\n',
  },
  {
    name: 'ignores a date in Retry-After',
    file: 'courier/transport.ts',
    find: "Number(value) * 1000 || Date.parse(value ?? '') - Date.now() || 0;",
    replace: 'Number(value) * 1000 || 0;',
  },
];
