import { once } from 'node:events';
import { get } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createChanges } from '../../demo/collector/changes.ts';
import { createFaults } from '../../demo/collector/faults.ts';
import { createInspectApp } from '../../demo/collector/inspect.ts';
import { listen } from './listen.ts';
import { createVisitor, serveApp, useCollector } from './running.ts';

const running = useCollector();
const ask = async (method: string, path: string, body?: unknown) => {
  const response = await running().request(method, path, body);
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
};

describe('inspect', () => {
  it('needs no key', async () => {
    expect((await fetch(`${running().url}/inspect/events`)).status).toBe(200);
  });

  it.each([
    ['127.0.0.1:8787', 200],
    ['[::1]:8787', 200],
    ['192.168.1.7', 200],
    ['localhost:8787', 200],
    ['ann.localhost:8787', 200],
    ['rebound.example', 403],
    ['localhost.rebound.example', 403],
    ['127.0.0.1.rebound.example:8787', 403],
  ])('asked for at %s answers %i, because a page of another site can claim no address', async (host, status) => {
    const asked = get(`${running().url}/inspect/events`, { headers: { host } });
    const [response] = await once(asked, 'response');
    response.resume();
    expect(response.statusCode).toBe(status);
  });

  it.each(['0', '-1', '1.5', 'ten', '', '1e3', '99999999999999999999'])('refuses the limit %j', async (limit) => {
    for (const what of ['events', 'customers', 'journeys']) {
      expect(await ask('GET', `/inspect/${what}?limit=${limit}`)).toEqual({
        status: 400,
        body: { error: `limit: expected a whole number above 0, received "${limit}"` },
      });
    }
  });

  it('accepts a limit above the number of entries', async () => {
    await running().batch(createVisitor().event('e'));
    expect((await ask('GET', '/inspect/events?limit=1000')).body.events).toHaveLength(1);
  });

  it('lists the customer of a visitor, and the primary key beside each of its events', async () => {
    const [ada, other] = [createVisitor(), createVisitor()];
    await running().batch(ada.event('e'), ada.identify('ada'), other.event('e'));
    const { body } = await ask('GET', `/inspect/visitors/${ada.correlationValue}`);
    expect(body).toEqual({ customers: (await running().customers()).filter(({ primaryKey }) => primaryKey === 'ada') });
    expect(body.customers).toHaveLength(1);
    expect((await running().events()).map(({ primaryKey }) => primaryKey)).toEqual(['ada', 'ada', null]);
    for (const id of ['x', '01234567-89ab-4cde-8f01-23456789abcd'])
      expect(await ask('GET', `/inspect/visitors/${id}`)).toEqual({ status: 200, body: { customers: [] } });
  });

  it('creates a journey and lists it, with and without a filter', async () => {
    const { status, body } = await ask('POST', '/inspect/journeys', { name: 'n', event: 'e', filter: { a: [1] } });
    expect(status).toBe(201);
    expect(body).toEqual({ id: expect.any(String), name: 'n', event: 'e', filter: { a: [1] }, count: 0, firings: [] });
    const bare = await ask('POST', '/inspect/journeys', { name: 'm', event: 'e', filter: null });
    expect(await running().journeys()).toEqual([body, bare.body]);
  });

  it.each<[unknown, string]>([
    [{ event: 'e' }, 'name: expected a non-empty string, received nothing'],
    [{ name: 'n', event: '' }, 'event: expected a non-empty string, received ""'],
    [{ name: ' ', event: 'e' }, 'name: expected a string that is more than whitespace, received " "'],
    [{ name: 'n', event: '\t' }, 'event: expected a string that is more than whitespace, received "\\t"'],
    [{ name: 'n', event: 'e', filter: [] }, 'filter: expected an object, received an array'],
    [{ name: 'n', event: 'e', filter: 'plan' }, 'filter: expected an object, received "plan"'],
  ])('refuses %j as a journey', async (journey, error) => {
    expect(await ask('POST', '/inspect/journeys', journey)).toEqual({ status: 400, body: { error } });
  });

  it('refuses a journey whose name, event and filter another journey has', async () => {
    const error = 'a journey with this name, event and filter exists already';
    for (const filter of [null, { plan: 'pro', seats: 2 }]) {
      const journey = { name: 'n', event: 'e', filter };
      const answers = await Promise.all([1, 2].map(() => ask('POST', '/inspect/journeys', journey)));
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
      expect(answers.map(({ body }) => body)).toContainEqual({ error });
    }
    expect((await ask('POST', '/inspect/journeys', { name: 'n', event: 'e', filter: { plan: 'pro' } })).status).toBe(
      201,
    );
  });

  it('lists the journeys', async () => {
    for (const id of ['1', '01234567-89ab-4cde-8f01-23456789abcd']) {
      expect(await ask('DELETE', `/inspect/journeys/${id}`)).toEqual({
        status: 404,
        body: { error: `there is no journey ${id}` },
      });
    }
  });

  it('sets, shows and clears the primary key attribute', async () => {
    for (const attribute of ['user_id', null, 'email']) {
      expect(await ask('PUT', '/inspect/primary-key', { attribute })).toEqual({ status: 200, body: { attribute } });
      expect(await ask('GET', '/inspect/primary-key')).toEqual({ status: 200, body: { attribute } });
    }
    expect(await ask('PUT', '/inspect/primary-key', { attribute: '' })).toEqual({
      status: 400,
      body: { error: 'attribute: expected a non-empty string, received ""' },
    });
    expect((await ask('PUT', '/inspect/primary-key', {})).status).toBe(400);
  });

  it('accepts changes as JSON only, so that forms of other pages cannot make them', async () => {
    const response = await fetch(`${running().url}/inspect/journeys`, { method: 'POST', body: '{}' });
    expect(response.status).toBe(415);
  });

  it('answers 404 in JSON to any other request', async () => {
    expect(await ask('GET', '/inspect/nothing')).toEqual({
      status: 404,
      body: { error: 'GET /inspect/nothing is no endpoint' },
    });
  });
});

describe('the stream', () => {
  it('sends the counts at once, and again after each kind of change', async () => {
    const stream = await listen(running().url);
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream');
    const nothing = { events: 0, customers: 0, journeys: 0, firings: 0 };
    expect(await stream.next()).toBe(`event: changed\ndata: ${JSON.stringify(nothing)}`);
    const visitor = createVisitor();
    await running().batch(visitor.event('e'));
    expect(await stream.counts()).toEqual({ ...nothing, events: 1, customers: 1 });
    await running().single(visitor.event('e'));
    expect(await stream.counts()).toMatchObject({ events: 2 });
    await running().upsert('ada');
    expect(await stream.counts()).toMatchObject({ customers: 2 });
    const { id } = await running().journey('n', 'e');
    expect(await stream.counts()).toMatchObject({ journeys: 1, firings: 0 });
    await running().batch(visitor.event('e'));
    expect(await stream.counts()).toMatchObject({ events: 3, firings: 1 });
    await ask('DELETE', `/inspect/journeys/${id}`);
    expect(await stream.counts()).toMatchObject({ journeys: 0, firings: 0 });
    await ask('DELETE', '/inspect/data');
    expect(await stream.counts()).toEqual(nothing);
    for (const change of ['primary-key', 'faults']) {
      await ask('PUT', `/inspect/${change}`, { attribute: 'email', mode: 'none' });
      expect(await stream.counts()).toEqual(nothing);
    }
    stream.leave();
  });

  it('joins many changes into at most five messages per second', async () => {
    const stream = await listen(running().url);
    await stream.next();
    const begin = performance.now();
    const visitor = createVisitor();
    const sending = Promise.all(Array.from({ length: 60 }, () => running().batch(visitor.event('e'))));
    let messages = 0;
    for (let events = 0; events < 60; messages++) ({ events } = await stream.counts());
    await sending;
    expect(messages).toBeLessThanOrEqual(1 + (performance.now() - begin) / 190);
    stream.leave();
  });

  it('sends keep-alive messages while nothing changes', async () => {
    const closing = new AbortController();
    const changes = createChanges();
    const { database } = running();
    const app = createInspectApp({ database, faults: createFaults(), changes, closing: closing.signal, heartbeat: 20 });
    const { server, url } = await serveApp(app);
    const stream = await listen(url);
    await stream.next();
    expect(await stream.next()).toBe(': still here');
    expect(await stream.next()).toBe(': still here');
    closing.abort();
    server.close();
    await once(server, 'close');
  });

  it('stops when the reader disconnects', async () => {
    const closing = new AbortController();
    const changes = createChanges();
    let listeners = 0;
    const counted: typeof changes = {
      ...changes,
      on(listener) {
        const off = changes.on(listener);
        listeners++;
        return () => {
          listeners--;
          off();
        };
      },
    };
    const { database } = running();
    const app = createInspectApp({ database, faults: createFaults(), changes: counted, closing: closing.signal });
    const { server, url } = await serveApp(app);
    const stream = await listen(url);
    await stream.next();
    expect(listeners).toBe(1);
    stream.leave();
    await expect.poll(() => listeners).toBe(0);
    server.close();
    // The client opens another connection by itself after an abort, and holds it for a while.
    if ('closeAllConnections' in server) server.closeAllConnections();
    await once(server, 'close');
  });
});
