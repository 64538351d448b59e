import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { type BookStore, memoryBooks } from '../../src/relay/bookStore.ts';
import { createRelay, memorySeen, toNodeHandler } from '../../src/relay.ts';
import { openConnection } from '../mounts/connection.ts';
import { closeServer, listenOn } from '../upstream.ts';
import { openInMemory, requestOf } from './requests.ts';
import { BATCH, event } from './stage.ts';

const batch = () => ({ batch: [event('a')] });
/** A service that answers when the test calls `answer`. `arrived` resolves once it has a request. */
const holdForward = () => {
  let arrive = () => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  let answer = (_status: number) => {};
  const answered = new Promise<Response>((resolve) => {
    answer = (status) => resolve(new Response(null, { status }));
  });
  const forward = () => {
    arrive();
    return answered;
  };
  return { forward, arrived, answer };
};

it('a relay that closes asks for the end of the connection in every answer', async () => {
  const { forward, arrived, answer } = holdForward();
  const { relay } = openInMemory({ forward });
  const early = relay(requestOf(batch()));
  await arrived;
  const closed = relay.close();
  const late = await relay(requestOf(batch()));
  expect(late.status).toBe(503);
  expect(late.headers.get('Connection')).toBe('close');
  answer(201);
  expect((await early).headers.get('Connection')).toBe('close');
  await closed;
});

it('a relay that is open does not ask for the end of the connection', async () => {
  const { relay } = openInMemory();
  for (const body of [batch(), '{']) expect((await relay(requestOf(body))).headers.has('Connection')).toBe(false);
});

it('Node ends a kept connection once the closing relay has answered on it', async () => {
  const { forward, arrived, answer } = holdForward();
  const relay = createRelay({ forward });
  const server = createServer(toNodeHandler(relay));
  const { post, reply, closed } = await openConnection(await listenOn(server));
  post(BATCH, JSON.stringify(batch()));
  await arrived;
  const done = relay.close();
  answer(201);
  const { status, headers } = await reply();
  expect(status).toBe(201);
  expect(headers.connection).toBe('close');
  await closed();
  await done;
  await closeServer(server);
});

it('a relay that closes waits for the requests that have arrived, and for no others', async () => {
  const { forward, arrived, answer } = holdForward();
  const { relay } = openInMemory({ forward });
  const order: string[] = [];
  const early = relay(requestOf(batch())).then(() => order.push('answered'));
  await arrived;
  const closed = relay.close().then(() => order.push('closed'));
  answer(201);
  await Promise.all([early, closed]);
  expect(order).toEqual(['answered', 'closed']);
  await relay.close();
});

it('a relay that closes answers 503 to a request whose body is incomplete, and names the reason', async () => {
  const { relay, received } = openInMemory();
  const endless = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from('{"batch"')),
  });
  const reply = relay({ ...requestOf(''), body: endless });
  await relay.close();
  const { status, headers } = await reply;
  expect([status, headers.get('Retry-After'), headers.get('Connection')]).toEqual([503, '1', 'close']);
  expect(await (await reply).json()).toEqual({ error: 'this relay is closing' });
  expect(received).toEqual([]);
});

it('a relay that closes writes the facts that its store has refused before the latest report', async () => {
  const load = 2 ** 40;
  const store = memoryBooks();
  let isDown = true;
  const books: BookStore = {
    ...store,
    read: async (loads) => (isDown ? Promise.reject(new Error('down')) : store.read(loads)),
  };
  let report = () => {};
  const reported = new Promise<void>((resolve) => {
    report = resolve;
  });
  const { relay } = openInMemory({ seen: { ...memorySeen(), books }, reportInterval: 0.001, onReport: () => report() });
  await relay(requestOf({ batch: [event('a', { seq: [load, 1] })], books: [[load, 1, 1, '1.4.2', []]] }));
  await reported;
  isDown = false;
  expect(await store.read([`${load}`])).toEqual([undefined]);
  await relay.close();
  expect(await store.read([`${load}`])).toEqual([expect.any(String)]);
});
