/** The load generator, a process of its own, which receives orders from `measure.ts` and answers with its measurements. */
import autocannon from 'autocannon';
import { type BatchKind, createBatches } from './batches.ts';
import { answering } from './processes.ts';

export interface LoadOrder {
  url: string;
  kind: BatchKind;
  connections: number;
  seconds: number;
  /** The service's key, for a load that does not pass through a relay. */
  key?: string;
}

export interface LoadResult {
  requests: number;
  seconds: number;
  /** Latency, in ms. */
  p50: number;
  p99: number;
  /**
   * How often a connection failed or timed out, and how often each status other than 201 was answered. Only 201 means that the batch was
   * forwarded.
   */
  failures: Readonly<Record<string, number>>;
}

/** The other headers of a browser's request, because a relay has to parse them, too. */
const BROWSER = {
  accept: '*/*',
  'accept-encoding': 'gzip, deflate, br, zstd',
  'accept-language': 'en-GB,en;q=0.9',
  'cache-control': 'no-cache',
  origin: 'https://shop.example',
  referer: 'https://shop.example/',
  'sec-fetch-dest': 'empty',
  'sec-fetch-mode': 'cors',
  'sec-fetch-site': 'same-origin',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
};

const percentile = (sorted: number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

const load = async ({ url, kind, connections, seconds, key }: LoadOrder): Promise<LoadResult> => {
  const next = await createBatches(kind);
  const headers = {
    ...BROWSER,
    'content-type': 'application/json',
    ...(kind === 'gzip' && { 'content-encoding': 'gzip' }),
    ...(key !== undefined && { authorization: `Api-Key ${key}` }),
  };
  const latencies: number[] = [];
  const address = `${url}/api/events/batch/`;
  const options: autocannon.Options = {
    url: address,
    method: 'POST',
    headers,
    connections,
    duration: seconds,
    // autocannon checks only once in this time (ms) whether the duration is over.
    sampleInt: 50,
    requests: [{ setupRequest: (request) => ({ ...request, body: next() }) }],
  };
  const failures: Record<string, number> = {};
  const fail = (what: string | number, times = 1) => {
    if (times) failures[what] = (failures[what] ?? 0) + times;
  };
  const { requests, duration, errors } = await new Promise<autocannon.Result>((resolve, reject) => {
    const run = autocannon(options, (error, result) => (error ? reject(error) : resolve(result)));
    run.on('response', (_client, status, _bytes, latency) => {
      latencies.push(latency);
      if (status !== 201) fail(status);
    });
  });
  // The server may still work on requests that the end has aborted. The answer to one more request comes after them.
  const last = await fetch(address, { method: 'POST', headers, body: new Uint8Array(next()) });
  fail('errors', errors);
  if (last.status !== 201) fail(last.status);
  latencies.sort((a, b) => a - b);
  return {
    requests: requests.total,
    seconds: duration,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    failures,
  };
};

answering(load);
