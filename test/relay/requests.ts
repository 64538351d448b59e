import { randomUUID } from 'node:crypto';
import { createRelay, type ForwardRequest, type RelayOptions, type RelayRequest } from '../../src/relay.ts';
import { BATCH, KEY } from './stage.ts';

/** A relay request without a socket, so that no test clock has to wait for the network. */
export const requestOf = (
  body: unknown,
  {
    path = BATCH,
    method = 'POST',
    headers = {},
  }: { path?: string; method?: string; headers?: Record<string, string> } = {},
): RelayRequest => ({
  method,
  url: `https://shop.example${path}`,
  headers: new Headers({ 'Content-Type': 'application/json', ...headers }),
  body: (async function* () {
    yield new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));
  })(),
});

/** A relay before a service that answers 201, and the requests that the service has received. */
export const openInMemory = (options: Partial<RelayOptions> = {}) => {
  const received: ForwardRequest[] = [];
  const relay = createRelay({
    apiKey: KEY,
    baseUrl: 'https://service.example',
    forward: async (request) => {
      received.push(request);
      return new Response(null, { status: 201 });
    },
    ...options,
  });
  return { relay, received };
};

export const uuids = (count: number): string[] => Array.from({ length: count }, () => randomUUID());
