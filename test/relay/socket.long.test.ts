// @module-tag promise
import { it } from 'vitest';
import { useUpstream } from '../upstream.ts';
import { hold } from './arbitraries.ts';
import { socketProperty } from './socketProperty.ts';
import { KEY, useRelays } from './stage.ts';

const upstream = useUpstream();
const openRelay = useRelays(() => ({
  baseUrl: upstream.url,
  allowUnsignedUpsert: true,
  allowUnsignedIdentify: true,
  limits: { address: false, total: false },
}));

it('thousands of requests of any bytes get one good answer each or none', async () => {
  upstream.answer(201, {}, `{"header":"Api-Key ${KEY}"}`);
  await hold(socketProperty(await openRelay(), upstream, new Map()), 8000);
}, 600_000);
