import { once, setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import * as v from 'valibot';
import { object } from './fields.ts';
import { type Checked, check } from './validation.ts';

/** The bindings that `@hono/node-server` gives to every request. */
export interface ServerEnv {
  Bindings: HttpBindings;
}

const wholeNumber = (least: number, most: number) => {
  const expected = `a whole number from ${least} to ${most}`;
  return v.pipe(v.number(expected), v.integer(expected), v.minValue(least, expected), v.maxValue(most, expected));
};
/** How long a fault lasts: a number of requests, and a time in ms. */
const bounds = {
  count: v.exactOptional(wholeNumber(1, 1_000_000)),
  duration: v.exactOptional(wholeNumber(1, 600_000)),
};
const HEADER_VALUE = 'a number of seconds or an HTTP date, as a string';

const schemas = {
  none: object({ mode: v.literal('none') }),
  status: object({
    mode: v.literal('status'),
    status: wholeNumber(400, 599),
    retryAfter: v.exactOptional(v.pipe(v.string(HEADER_VALUE), v.regex(/^[!-~]([ -~]*[!-~])?$/, HEADER_VALUE))),
    ...bounds,
  }),
  slow: object({ mode: v.literal('slow'), delay: wholeNumber(0, 600_000), ...bounds }),
  hang: object({ mode: v.literal('hang'), ...bounds }),
  close: object({ mode: v.literal('close'), ...bounds }),
  'close-before': object({ mode: v.literal('close-before'), ...bounds }),
};
type Mode = keyof typeof schemas;

/**
 * A fault of the next requests:
 * - `status` answers that status and stores nothing.
 * - `slow` waits `delay` ms first.
 * - `hang` never answers.
 * - `close` stores the request, and then closes the socket instead of answering.
 * - `close-before` closes the socket at once.
 *
 * The fault lasts for `count` requests, or for `duration` ms. Without either, it lasts until it is switched off. `state`
 * returns what is left of both.
 */
export type Fault = { [M in Mode]: v.InferOutput<(typeof schemas)[M]> }[Mode];

export interface Faults {
  state(): Fault;
  /** Checks and sets a fault. On an error, the fault before stays. */
  set(input: unknown): Checked<Fault>;
  interfere: MiddlewareHandler<ServerEnv>;
  /** Closes the sockets of the requests that a fault holds, because a server cannot close while one is open. */
  release(): void;
}

const OFF: Fault = { mode: 'none' };

/** @param changed called when a fault was switched on, or has run out */
export function createFaults(changed: () => void = () => {}): Faults {
  const released = new AbortController();
  setMaxListeners(0, released.signal);
  let fault: Fault = OFF;
  let endsAt = 0;
  let timer: NodeJS.Timeout | undefined;

  const replace = (next: Fault) => {
    fault = next;
    changed();
  };

  const start = (next: Fault) => {
    clearTimeout(timer);
    if ('duration' in next && next.duration !== undefined) {
      endsAt = Date.now() + next.duration;
      timer = setTimeout(replace, next.duration, OFF);
    }
    replace(next);
  };

  const take = (): Fault => {
    const taken = fault;
    if ('count' in fault && fault.count !== undefined)
      replace(fault.count > 1 ? { ...fault, count: fault.count - 1 } : OFF);
    return taken;
  };

  return {
    state: () =>
      'duration' in fault && fault.duration !== undefined
        ? { ...fault, duration: Math.max(endsAt - Date.now(), 0) }
        : fault,
    set(input) {
      const checked = checkFault(input);
      if ('value' in checked) start(checked.value);
      return checked;
    },
    interfere: (c, next) => commit(take(), c, next, released.signal),
    release() {
      clearTimeout(timer);
      released.abort();
    },
  };
}

function checkFault(input: unknown): Checked<Fault> {
  const modes = Object.keys(schemas) as Mode[];
  const named = check(object({ mode: v.picklist(modes, `one of ${modes.join(', ')}`) }), input);
  return 'error' in named ? named : check<Fault>(schemas[named.value.mode], input);
}

async function commit(
  fault: Fault,
  c: Context<ServerEnv>,
  next: () => Promise<void>,
  released: AbortSignal,
): Promise<Response | undefined> {
  switch (fault.mode) {
    case 'none':
      await next();
      return;
    case 'status':
      if (fault.retryAfter !== undefined) c.header('Retry-After', fault.retryAfter);
      throw new HTTPException(fault.status as 500, { message: `a ${fault.status} on demand` });
    case 'slow':
      if (!(await lasts(pause(fault.delay, undefined, { signal: released })))) return drop(c);
      await next();
      return;
    case 'hang': {
      const { incoming, outgoing } = c.env;
      // Node notices that the client has gone only once the body is read to its end.
      incoming.resume();
      if (!outgoing.closed) await lasts(once(outgoing, 'close', { signal: released }));
      return drop(c);
    }
    case 'close':
      await next();
      return drop(c);
    case 'close-before':
      return drop(c);
  }
}

/** Waits to the end. Returns false if `release` ended the wait. */
const lasts = (wait: Promise<unknown>): Promise<boolean> =>
  wait.then(
    () => true,
    () => false,
  );

/** Closes the socket before the first byte of an answer. The response is only for Hono, which sends it nowhere. */
function drop(c: Context<ServerEnv>): Response {
  c.env.outgoing.destroy();
  return c.body(null);
}
