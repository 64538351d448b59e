import { gunzipSync } from 'node:zlib';
import { rangesOf } from '../world/ranges.ts';
import type { World } from '../world/world.ts';
import { type Outcome, outcomeOf } from './outcome.ts';

export interface NetworkRequest {
  /** The name of its sender, for the timeline. */
  readonly from: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

export interface NetworkAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The sender calls it after it has read the whole answer. */
  readonly accepted?: () => void;
  /** Whether the body breaks off. */
  readonly isCut?: boolean;
}

/** Answers a request, in as much virtual time as it needs. */
export type Server = (request: NetworkRequest, answer: (answer: NetworkAnswer) => void) => void;

/** How the network treats requests from now on. */
export interface Conditions {
  /** Time that a request or an answer travels, in ms. */
  readonly latency: readonly [least: number, most: number];
  /** Share of requests that are lost before the server has taken them. */
  readonly lostBefore: number;
  /** Share of answers that are lost. */
  readonly lostAfter: number;
  /** Share of answers whose body breaks off. */
  readonly cut: number;
  /** Answers in place of the server: a captive portal, a CDN, a service worker. */
  readonly foreign?: NetworkAnswer | undefined;
  /** Changes the answers of the server, as a proxy does. */
  readonly change?: (answer: NetworkAnswer) => NetworkAnswer;
  /** Whether a cache answers with the server's last failure. */
  readonly isStale?: boolean;
  /** Whether all requests stay without an answer. */
  readonly hangs: boolean;
}

export const FAIR: Conditions = { latency: [5, 40], lostBefore: 0, lostAfter: 0, cut: 0, hangs: false };

/** A request and its outcome. */
export interface RequestRecord {
  readonly at: number;
  readonly from: string;
  readonly request: NetworkRequest;
  /** Undefined until its sender has an answer or knows that there will be none. */
  end?: Outcome & { readonly at: number };
}

export interface Network {
  conditions: Conditions;
  /** Every request, in the order in which they were sent. */
  readonly requests: RequestRecord[];
  /** Until when (virtual ms) clew may wait, because answers have asked for a pause or refused a request. */
  pausedUntil: number;
  /** Whether the network loses no request and no answer. */
  readonly isFair: () => boolean;
  send(request: NetworkRequest, done: (answer: NetworkAnswer | undefined) => void): SentRequest;
}

/** An open request, as its sender sees it. */
export interface SentRequest {
  /** The sender does not wait for the answer any more. */
  giveUp(): void;
  /** The sender is gone. A request that has not arrived may be lost, or still arrive. */
  cut(): void;
}

export const textOf = ({ body, headers }: NetworkRequest): string =>
  typeof body === 'string'
    ? body
    : headers['Content-Encoding'] === 'gzip'
      ? gunzipSync(body).toString()
      : Buffer.from(body).toString();

interface Body {
  readonly batch?: readonly Body[];
  readonly event?: string;
  readonly payload?: { readonly n?: number };
}

/** Undefined if the text is no JSON. */
export const parseBody = (text: string): Body | undefined => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The content of a body for the timeline: the number of each event, or its name. */
export const contentOf = (request: NetworkRequest): string => {
  const body = parseBody(textOf(request));
  if (!body) return 'no JSON';
  const names: string[] = [];
  let numbers: number[] = [];
  const endRange = () => {
    if (numbers[0] !== undefined) names.push(rangesOf(numbers));
    numbers = [];
  };
  for (const { event = 'properties', payload } of body.batch ?? [body]) {
    const n = payload?.n;
    // Ranges keep the order of the events.
    if (n === undefined || n !== (numbers.at(-1) ?? n - 1) + 1) endRange();
    if (n === undefined) names.push(event);
    else numbers.push(n);
  }
  endRange();
  return names.join(', ') || 'no events';
};

/** Routes each request to a server by the prefix of its address. */
export const createNetwork = (world: World, servers: Readonly<Record<string, Server>>): Network => {
  const { scheduler } = world;
  const random = world.random.fork('network');
  const cutting = world.random.fork('cut requests');
  /** The last answer of a server that is no success. */
  let lastFailure: NetworkAnswer | undefined;
  /** Records the request, and later its outcome. */
  const record = (request: NetworkRequest) => {
    const entry: RequestRecord = { at: scheduler.now(), from: request.from, request };
    network.requests.push(entry);
    return (answer?: NetworkAnswer) => {
      if (entry.end) return;
      const outcome = outcomeOf(request, answer, world.serverClock());
      network.pausedUntil = Math.max(network.pausedUntil, scheduler.now() + outcome.pause);
      entry.end = { at: scheduler.now(), ...outcome };
    };
  };
  const network: Network = {
    conditions: FAIR,
    requests: [],
    pausedUntil: 0,
    isFair: () => network.conditions === FAIR,
    send(request, receive) {
      const end = record(request);
      const done: typeof receive = (answer) => {
        end(answer);
        receive(answer);
      };
      const giveUp = () => end();
      const conditions = network.conditions;
      const travel = (label: string, run: () => void) =>
        scheduler.after(random.between(...conditions.latency), label, run);
      /** @param lose loses the request unless it has arrived */
      const sent = (lose = () => {}): SentRequest => ({
        giveUp,
        cut() {
          giveUp();
          if (cutting.chance(0.5)) lose();
        },
      });
      const fail = (why: string) => {
        world.log('network', () => `${request.from} ${request.url}: ${why}`);
        travel('request fails', () => done(undefined));
        return sent();
      };
      if (conditions.hangs) {
        world.log('network', () => `${request.from} ${request.url}: hangs`);
        return sent();
      }
      if (random.chance(conditions.lostBefore)) return fail('lost before it was taken');
      const reply = (given: NetworkAnswer) => {
        if (given.status >= 300) lastFailure = given;
        const answer = conditions.change?.(given) ?? given;
        if (random.chance(conditions.lostAfter)) return void fail(`answer ${answer.status} lost`);
        const isCut = random.chance(conditions.cut);
        travel('answer', () => done(isCut ? { ...answer, isCut } : answer));
      };
      const foreign = conditions.foreign ?? (conditions.isStale ? lastFailure : undefined);
      if (foreign) {
        world.log('network', () => `another server answers ${request.from} ${foreign.status} ${foreign.text}`.trim());
        return sent(travel('request', () => reply(foreign)));
      }
      const [, server] = Object.entries(servers).find(([prefix]) => request.url.startsWith(prefix)) ?? [];
      if (!server) return fail('no server');
      return sent(travel('request', () => server(request, reply)));
    },
  };
  return network;
};
