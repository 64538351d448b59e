// @module-tag promise
import { expect, it } from 'vitest';
import { useUpstream } from '../upstream.ts';
import { hold } from './arbitraries.ts';
import { type Statuses, socketProperty } from './socketProperty.ts';
import { KEY, useRelays } from './stage.ts';

const upstream = useUpstream();
const openRelay = useRelays(() => ({
  baseUrl: upstream.url,
  allowUnsignedUpsert: true,
  allowUnsignedIdentify: true,
  allowedOrigins: ['https://www.example.com'],
  bodyTimeout: 2000,
}));

it('any bytes on a socket get one good answer or none, and the next request works', async () => {
  const relay = await openRelay();
  // The service repeats the key: no client may read it.
  upstream.answer(201, { 'Content-Type': 'text/plain' }, `Authorization: Api-Key ${KEY}`);
  const statuses: Statuses = new Map();
  await hold(socketProperty(relay, upstream, statuses), 400);
  for (const status of [200, 201, 204, 400, 403, 404, 405, 413, 415]) expect([...statuses.keys()]).toContain(status);
  expect(statuses.get(201)).toBeGreaterThan(20);
});
