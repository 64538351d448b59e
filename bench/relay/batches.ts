import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { signPrimaryKey } from '../../dist/relay.js';

/** How a page may send a batch. */
export type BatchKind = 'plain' | 'gzip' | 'signed';

/** The service's API key, and the secret that the app's server and the relay share. */
export const KEY = 'the-key-of-the-bench';
export const SECRET = 'the-secret-of-the-bench-of-32-bytes';

/** The last 12 digits of the ids in the template. Each batch overwrites them, so that its ids are new. */
const EVENT = 'eeeeeeeeeeee';
const VISITOR = 'dddddddddddd';
/** The number of the page load: 15 digits, as the tracker makes it. Each batch is the first one of another page load. */
const LOAD = 333_333_333_333_333;
const FIRST_LOAD = 300_000_000_000_000;
/** The page's time in ms, which a batch states. */
const NOW = 1_111_111_111_111;

const product = (n: number) => ({ sku: `sku-${n * 37}`, name: 'Café crème, 250 g', price: 12.5 + n, currency: 'EUR' });
const page = (path: string) => ({
  url: `https://shop.example${path}?utm_source=newsletter&utm_campaign=spring`,
  path,
  title: 'Coffee and tea — the shop',
  referrer: 'https://search.example/',
});
const payloads = [
  ['page_view', (n: number) => page(`/products/${n}`)],
  ['product_viewed', product],
  ['cart_viewed', (n: number) => ({ items: [product(n), product(n + 1)], total: 25 + 2 * n, coupon: null })],
  ['search', (n: number) => ({ query: `arabica ${n}`, results: n, filters: { roast: ['light', 'dark'], fair: true } })],
] as const;

/** The relay keeps ids of requests beside those of events, so no event may have this one. */
const handoverOf = (run: string) => `${run}-0000-4000-9000-${VISITOR}`;

/** A visitor's first 20 events, as the tracker writes them for a relay. */
const template = (run: string, identity: object | undefined): string => {
  const uuid = (digits: string) => `${run}-0000-4000-8000-${digits}`;
  const batch = Array.from({ length: 20 }, (_, n) => {
    const [event, payloadOf] = payloads[n % payloads.length] ?? payloads[0];
    return {
      uuid: uuid(EVENT),
      timestamp: new Date(Date.now() - 1000 + n).toISOString(),
      event,
      source: 'custom',
      correlationKey: '_id',
      payload: payloadOf(n),
      correlationValue: uuid(VISITOR),
      seq: [LOAD, n + 1],
      ...(n === 0 && identity),
    };
  });
  const books = [[LOAD, batch.length, 0, '1.0', []]];
  return JSON.stringify({ batch, handover: handoverOf(run), clock: [NOW, 1000], books });
};

const identityOf = async (primaryKey: string) => ({
  event: '$identify',
  payload: { distinct_id: primaryKey },
  signature: await signPrimaryKey(SECRET, primaryKey),
});

const placesOf = (digits: string, body: Buffer): number[] => {
  const places: number[] = [];
  for (let at = body.indexOf(digits); at >= 0; at = body.indexOf(digits, at + 1)) places.push(at);
  return places;
};

/**
 * Makes bodies of batches. The ids are new, because a relay drops duplicates. Each call writes only the ids, so that the
 * generator needs little CPU beside the server that it measures. The buffer is valid until the next call.
 */
export const createBatches = async (kind: BatchKind): Promise<() => Buffer> => {
  const run = randomBytes(4).toString('hex');
  const identity = kind === 'signed' ? await identityOf('ann@example.com') : undefined;
  const body = Buffer.from(template(run, identity));
  const events = placesOf(EVENT, body);
  const visitors = placesOf(VISITOR, body);
  const loads = placesOf(`${LOAD}`, body);
  const times = placesOf(`${NOW}`, body);
  let made = 0;
  return () => {
    const write = (n: number, places: number[]) => {
      const digits = n.toString(16).padStart(12, '0');
      for (const at of places) body.write(digits, at, 'latin1');
    };
    write(made, visitors);
    for (const at of loads) body.write(`${FIRST_LOAD + made}`, at, 'latin1');
    for (const at of times) body.write(`${Date.now()}`, at, 'latin1');
    for (const [n, at] of events.entries()) write(made * events.length + n, [at]);
    made += 1;
    return kind === 'gzip' ? gzipSync(body, { level: 1 }) : body;
  };
};
