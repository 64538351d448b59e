/** The flood, a process of its own, which sends the ordered number of requests from one address as fast as they are answered. */
import { randomUUID } from 'node:crypto';
import autocannon from 'autocannon';
import { answering } from './processes.ts';

export interface FloodOrder {
  url: string;
  requests: number;
}

export interface FloodResult {
  seconds: number;
  taken: number;
  refused: number;
  /** Connections that failed or timed out. */
  errors: number;
}

const flood = async ({ url, requests }: FloodOrder): Promise<FloodResult> => {
  const event = { event: 'flood', source: 'custom', correlationKey: '_id' };
  const result = await autocannon({
    url: `${url}/api/events/batch/`,
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.66' },
    connections: 100,
    amount: requests,
    requests: [
      {
        setupRequest: (request) => ({
          ...request,
          body: JSON.stringify({
            batch: [{ ...event, timestamp: new Date(), uuid: randomUUID(), correlationValue: randomUUID() }],
          }),
        }),
      },
    ],
  });
  return { seconds: result.duration, taken: result['2xx'], refused: result['4xx'], errors: result.errors };
};

answering(flood);
