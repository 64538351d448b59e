// @module-tag promise
import { randomInt } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createRelay,
  type ForwardRequest,
  memorySeen,
  type RelayOptions,
  type SeenState,
  toNodeHandler,
} from '../../src/relay.ts';
import { closeServer, listenOn } from '../upstream.ts';
import { booksChecks } from './booksChecks.ts';
import { createBench, runChecks, SETTINGS } from './check.ts';
import { requestChecks } from './requestChecks.ts';
import { type StandIn, startService } from './service.ts';
import { stateChecks } from './stateChecks.ts';

const CHECKS = [...requestChecks, ...stateChecks, ...booksChecks];
const servers: Server[] = [];
let service: StandIn;
beforeAll(async () => {
  service = await startService();
});
afterAll(async () => {
  await Promise.all(servers.map(closeServer));
  await service.close();
});

const resultsOf = async (handler: RequestListener, checks = CHECKS) => {
  const server = createServer(handler);
  servers.push(server);
  const url = `${await listenOn(server)}/clew`;
  return runChecks(checks, createBench(url, service));
};

/** The names of the rules that the relay breaks. */
const brokenBy = async (handler: RequestListener, checks = CHECKS): Promise<string[]> => {
  const results = await resultsOf(handler, checks);
  return results.flatMap(({ name, fault }) => (fault === undefined ? [] : `${name}: ${fault}`));
};

const relayWith = (options: Partial<RelayOptions> = {}) =>
  toNodeHandler(
    createRelay({
      baseUrl: service.url,
      apiKey: SETTINGS.apiKey,
      identitySecret: SETTINGS.identitySecret,
      allowedOrigins: [SETTINGS.origin],
      ...options,
    }),
  );

it('this relay keeps every rule', async () => {
  expect(await brokenBy(relayWith())).toEqual([]);
});

it('a relay that forgets everything and corrects no clock breaks the rules about duplicates, handovers and clocks', async () => {
  const forgetful = {
    reserve: async (uuids: readonly string[]) => uuids.map(() => 'new' as const),
    confirm: async () => {},
    release: async () => {},
  };
  // Such a relay keeps the rule to wait for a second, which the test need not wait for.
  const checks = CHECKS.filter(({ name }) => !name.includes('second old'));
  const broken = await brokenBy(relayWith({ seen: forgetful, correctClock: false }), checks);
  const words = broken.map((line) => /once|handover|by the id|corrects/.exec(line)?.[0]);
  expect(words).not.toContain(undefined);
  for (const word of ['once', 'handover', 'by the id', 'corrects']) expect(words).toContain(word);
});

it('a proxy that only adds the key breaks most rules', async () => {
  const broken = await brokenBy(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const answer = await fetch(service.url + (request.url ?? '').replace('/clew', ''), {
      method: 'POST',
      body: Buffer.concat(chunks).toString() || '{}',
      headers: { Authorization: `Api-Key ${SETTINGS.apiKey}`, 'Content-Type': 'application/json' },
    }).catch(() => ({ status: 502 }));
    response.writeHead(answer.status).end();
  });
  expect(broken.length).toBeGreaterThan(CHECKS.length / 2);
  expect(broken.some((line) => line.startsWith('answers a batch 2xx with the header clew-relay'))).toBe(true);
});

/** This relay without a header in its answers, or in those with these statuses. */
const without = (left: string, isFor: (status: number) => boolean = () => true): RequestListener => {
  const keep = relayWith();
  return (request, response) => {
    const { writeHead } = response;
    response.writeHead = ((...head: Parameters<typeof writeHead>) => {
      const [status, headers] = head as unknown as [number, Record<string, string>?];
      const isKept = ([name]: [string, string]) => name.toLowerCase() !== left || !isFor(status);
      if (isFor(status)) response.removeHeader(left);
      return writeHead.call(
        response,
        status,
        Object.fromEntries(Object.entries(headers ?? {}).filter(isKept)) as never,
      );
    }) as typeof writeHead;
    keep(request, response);
  };
};

it('a relay that ignores books keeps every rule, and those about books are skipped', async () => {
  const results = await resultsOf(without('clew-books'), booksChecks);
  expect(results.filter(({ fault }) => fault !== undefined)).toEqual([]);
  expect(results.filter(({ isSkipped }) => isSkipped).length).toBe(booksChecks.length - 2);
});

interface Body {
  readonly batch?: readonly { readonly seq?: readonly [load: number, number: number] }[];
  readonly handover?: string;
  readonly books?: readonly (readonly [
    load: number,
    count: number,
    closed: number,
    release: string,
    drops: readonly (readonly [reason: string, load: number, first: number, length: number])[],
  ])[];
  readonly clock?: readonly number[];
  readonly handovers?: readonly (readonly [id: string, age: number])[];
}

/** This relay behind a server that reads each body first, and changes it. */
const changing = (change: (body: Body) => object): RequestListener => {
  const keep = relayWith();
  return async (request, response) => {
    const body = change((await json(request)) as Body);
    keep(Object.assign(request, { body }), response);
  };
};

/** Sums what the requests so far have counted under a name. */
const createSums = () => {
  const sums = new Map<unknown, number>();
  return (name: unknown, count: number): number => {
    sums.set(name, (sums.get(name) ?? 0) + count);
    return sums.get(name) ?? 0;
  };
};

const seenWith = (more: (seen: ReturnType<typeof memorySeen>) => object) => {
  const seen = memorySeen();
  return { ...seen, ...more(seen) };
};

/** This relay, with other answers about which events are confirmed. */
const answering = (change: (state: SeenState, id: string) => SeenState) =>
  relayWith({
    seen: seenWith(({ reserve }) => ({
      reserve: async (uuids: readonly string[], owner: string) =>
        (await reserve(uuids, owner)).map((state, at) => change(state, uuids[at] ?? '')),
    })),
  });

/** Forwards a request as `toService` does. */
const passOn = ({ path }: ForwardRequest, body: string): Promise<Response> =>
  fetch(service.url + path, {
    method: 'POST',
    body,
    headers: { Authorization: `Api-Key ${SETTINGS.apiKey}`, 'Content-Type': 'application/json' },
  });

const isAlone = (path: string) => path.startsWith('/clew/events/');

const BROKEN: readonly [what: string, check: RegExp, make: () => RequestListener][] = [
  [
    'ends an account at a failed request',
    /^closes nothing/,
    () => {
      const closed = new Map<number, number>();
      return changing((body) => {
        const isOpen = ([load, number]: readonly [number, number]) => number > (closed.get(load) ?? 0);
        const batch = body.batch?.map(({ seq, ...rest }) => (seq && isOpen(seq) ? { ...rest, seq } : rest));
        for (const [load, , upTo] of body.books ?? []) closed.set(load, Math.max(closed.get(load) ?? 0, upTo));
        return { ...body, batch };
      });
    },
  ],
  [
    'answers about a handover that it is forwarding',
    /while it forwards/,
    () => answering((state) => (state === 'pending' ? 'new' : state)),
  ],
  [
    'forwards an event twice at the same time',
    /comes again meanwhile/,
    () => answering((state) => (state === 'pending' ? 'new' : state)),
  ],
  [
    'calls an event taken that it is forwarding',
    /comes again meanwhile/,
    () => answering((state) => (state === 'pending' ? 'taken' : state)),
  ],
  [
    'remembers single events by themselves',
    /in a batch and alone/,
    () => {
      const [one, other] = [relayWith(), relayWith()];
      return (request, response) => (isAlone(request.url ?? '') ? one : other)(request, response);
    },
  ],
  [
    'forwards the clock of a single event',
    /no field of the protocol/,
    () =>
      relayWith({
        forward: (request) => {
          const isSingle = request.path === '/events/';
          return passOn(
            request,
            isSingle ? JSON.stringify({ ...JSON.parse(request.body), clock: [1, 1] }) : request.body,
          );
        },
      }),
  ],
  [
    'reads a body as Latin-1',
    /any script/,
    () => relayWith({ forward: (request) => passOn(request, Buffer.from(request.body).toString('latin1')) }),
  ],
  ['takes an unsigned $identify', /comes alone/, () => relayWith({ allowUnsignedIdentify: true })],
  ['names itself only in successes', /no JSON 400/, () => without('clew-relay', (status) => status >= 300)],
  [
    'lets other origins read only successes',
    /read a refusal/,
    () => without('access-control-allow-origin', (status) => status >= 300),
  ],
  [
    'calls a broken connection a success',
    /breaks the connection/,
    () =>
      relayWith({
        forward: (request) => passOn(request, request.body).catch(() => new Response(null, { status: 201 })),
      }),
  ],
  [
    'takes a page for the answer of the service',
    /200 with HTML/,
    () =>
      relayWith({
        forward: async (request) => new Response(null, { status: (await passOn(request, request.body)).status }),
      }),
  ],
  ['keeps Retry-After to itself', /passes on Retry-After/, () => without('retry-after')],
  [
    'reads the id in the body of a batch only',
    /knows a single event/,
    () => changing((body) => ({ ...body, handover: body.batch && body.handover })),
  ],
  [
    'reads the books of a batch only',
    /books of a single event/,
    () => changing((body) => ({ ...body, books: body.batch && body.books })),
  ],
  [
    'forwards the properties of a duplicate',
    /properties of a handover once/,
    () => answering((state) => (state === 'taken' ? 'new' : state)),
  ],
  [
    'answers any number of questions',
    /question of another form/,
    () => changing((body) => ({ ...body, handovers: (body.handovers?.length ?? 0) > 100 ? [] : body.handovers })),
  ],
  [
    'takes any id of a handover',
    /id of another form/,
    () => changing((body) => ({ ...body, handover: /[A-Z]/.test(body.handover ?? '') ? undefined : body.handover })),
  ],
  [
    'refuses a clock of another form',
    /whose clock has another form/,
    () => changing((body) => (Array.isArray(body.clock ?? []) ? body : { batch: 'none' })),
  ],
  [
    'corrects a page load of two visitors by two offsets',
    /after a log-out/,
    () =>
      changing((body) => ({
        ...body,
        batch: body.batch?.map(({ seq = [0, 0], ...rest }) => ({
          ...rest,
          seq: [seq[0] + randomInt(2 ** 30), seq[1]],
        })),
      })),
  ],
  [
    'answers about a handover that is arriving',
    /a second old/,
    () => changing((body) => ({ ...body, handovers: body.handovers?.map(([id]) => [id, 5000]) })),
  ],
  ['takes every time in the future', /`maxFuture`/, () => relayWith({ maxFuture: Number.MAX_SAFE_INTEGER })],
  ['ignores `back`', /`back`/, () => changing((body) => ({ ...body, clock: body.clock?.slice(0, 2) }))],
  [
    'calls each page load older than its memory',
    /is younger/,
    () => relayWith({ seen: seenWith(({ books }) => ({ books: { ...books, memory: () => -1 } })) }),
  ],
  [
    'adds up what books repeat',
    /^takes the highest count/,
    () => {
      const sum = createSums();
      return changing((body) => ({
        ...body,
        books: body.books?.map(([load, count, closed, release, drops]) => [
          load,
          sum(load, count),
          closed,
          release,
          drops.map(([reason, of, first, length]) => [reason, of, first, sum(`${load} ${reason}`, length)]),
        ]),
      }));
    },
  ],
  [
    'refuses more than ten questions',
    /100 questions/,
    () => changing((body) => ({ ...body, handovers: (body.handovers?.length ?? 0) > 10 ? 'x' : body.handovers })),
  ],
  ['reads the body before the address', /before the body has arrived/, () => changing((body) => body)],
];

it.each(BROKEN)('a relay that %s breaks the rule about that', async (_what, check, make) => {
  const checks = CHECKS.filter(({ name }) => check.test(name));
  expect(checks).toHaveLength(1);
  expect(await brokenBy(make(), checks)).toHaveLength(1);
});

it('has names of its own for all rules', () => {
  expect(new Set(CHECKS.map(({ name }) => name)).size).toBe(CHECKS.length);
});
