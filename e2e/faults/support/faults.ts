import { setTimeout as pause } from 'node:timers/promises';
import type { Exchange, Handler } from './exchange.ts';

/** How often a fault strikes, by default always. Afterwards, requests go through. */
interface Limit {
  times?: number;
}

const limit = (handler: Handler, times = Number.POSITIVE_INFINITY): Handler => {
  let left = times;
  const limited: Handler = (exchange) => (left-- > 0 ? handler(exchange) : exchange.forward());
  return Object.assign(limited, { early: handler.early === true });
};

/** How long (ms) the browser has to read the written bytes. A reset discards all unread bytes. */
const LANDED = 50;

const writeRawAndReset = async ({ response }: Exchange, text: string) => {
  response.socket?.write(text);
  await pause(LANDED);
  response.socket?.resetAndDestroy();
};

interface AnswerOptions extends Limit {
  headers?: Record<string, string>;
  body?: string;
}
/** Answers with this status in the demo's place. */
export const answer = (status: number, { headers = {}, body = '', times }: AnswerOptions = {}): Handler =>
  limit(({ response }) => void response.writeHead(status, headers).end(body), times);

/** Never answers. */
export const hang = ({ times }: Limit = {}): Handler => limit(() => {}, times);

/** Answers the headers, and then one byte per second for as long as the connection is open. */
export const trickle = ({ times }: Limit = {}): Handler =>
  limit(async ({ response }) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).flushHeaders();
    while (!response.destroyed) {
      response.write(' ');
      await pause(1000);
    }
  }, times);

/** Reads the whole request and resets the connection. Nothing is stored. */
export const resetAfterRequest = ({ times }: Limit = {}): Handler =>
  limit(({ response }) => void response.socket?.resetAndDestroy(), times);

/** The demo stores the request. A reset replaces its answer. */
export const resetAfterStoring = ({ times }: Limit = {}): Handler =>
  limit(async ({ response, store }) => {
    await store();
    response.socket?.resetAndDestroy();
  }, times);

/** Resets the connection once the first bytes of the body have arrived. */
export const resetMidRequest = ({ times }: Limit = {}): Handler =>
  limit(
    Object.assign(
      ({ request, response }: Exchange) => {
        const reset = () => void response.socket?.resetAndDestroy();
        request.once('data', reset).once('end', reset);
      },
      { early: true },
    ),
    times,
  );

interface StoreOptions extends Limit {
  /** The demo has stored the request before its answer breaks off. */
  isStored?: boolean;
}
/** The answer breaks off within its headers. */
export const halfHeaders = ({ times, isStored }: StoreOptions = {}): Handler =>
  limit(async (exchange) => {
    if (isStored) await exchange.store();
    await writeRawAndReset(exchange, 'HTTP/1.1 200 OK\r\nContent-Ty');
  }, times);

/** The answer breaks off within its body. */
export const halfBody = ({ times, isStored }: StoreOptions = {}): Handler =>
  limit(async (exchange) => {
    if (isStored) await exchange.store();
    const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n';
    await writeRawAndReset(exchange, `${head}{"rejected":`);
  }, times);

export const redirect = (status: number, location: string, { times }: Limit = {}): Handler =>
  answer(status, { headers: { Location: location }, ...(times !== undefined && { times }) });

/** Forwards the request after `ms` ms. */
export const slow = (ms: number, { times }: Limit = {}): Handler =>
  limit(async ({ forward }) => {
    await pause(ms);
    await forward();
  }, times);

interface PoisonOptions {
  /** Whether the events before the poison are stored all the same, as the real service does when it answers 500. */
  storesEarlier?: boolean;
}
/** Refuses every request with a poison event in it. `isPoison` gets the event as it was sent. */
export const poison =
  <E = { payload?: { n?: number } }>(
    isPoison: (event: E) => boolean,
    status: number,
    { storesEarlier = status === 500 }: PoisonOptions = {},
  ): Handler =>
  async ({ body, response, store, forward }) => {
    const content = JSON.parse(body.toString() || '{}') as { batch?: E[] };
    const at = (content.batch ?? [content as E]).findIndex(isPoison);
    if (at < 0) return forward();
    const batch = content.batch?.slice(0, at);
    if (storesEarlier && batch?.[0]) await store(Buffer.from(JSON.stringify({ batch })));
    response.writeHead(status, { 'Content-Type': 'application/json' }).end('{"error":"poison"}');
  };
