import { deepEqual, equal, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { BATCH, type Check, event, type Reply, SETTINGS, SINGLE, sign, UPSERT } from './check.ts';

const isSuccess = (status: number) => ok(status >= 200 && status < 300, `expected 2xx, got ${status}`);
const names = (events: readonly object[]) => events.map((one) => (one as { event: string }).event);

/** A batch, a single event, an upsert. */
const forwarding: Check[] = [
  {
    name: 'answers a batch 2xx with the header clew-relay',
    async run({ post }) {
      const { status, headers } = await post(BATCH, { batch: [event()] });
      isSuccess(status);
      ok(headers.get('clew-relay'), 'expected the header clew-relay');
    },
  },
  {
    name: 'forwards a batch to the same path, with the key',
    async run({ post, service }) {
      await post(BATCH, { batch: [event()] });
      deepEqual(
        service.forwarded.map(({ path, headers }) => [path, headers.authorization]),
        [[BATCH, `Api-Key ${SETTINGS.apiKey}`]],
      );
    },
  },
  {
    name: 'forwards only the fields of the contract',
    async run({ post, events }) {
      const sent = event();
      await post(BATCH, { batch: [{ ...sent, seq: [1, 1], signature: 'x', extra: 1 }] });
      deepEqual(events(), [sent]);
    },
  },
  {
    name: 'forwards no field of the protocol with a single event and with an upsert',
    async run({ post, service }) {
      const protocol = { handover: randomUUID(), clock: [Date.now(), 1], books: [], handovers: [], seq: [2 ** 48, 1] };
      const { timestamp: _, ...single } = event();
      const upsert = { primary_key: 'ann', properties: { plan: 'pro' } };
      await post(SINGLE, { ...single, ...protocol });
      await post(UPSERT, { ...upsert, ...protocol, handover: randomUUID(), signature: sign('ann') });
      deepEqual(
        service.forwarded.map(({ body }) => body),
        [single, upsert],
      );
    },
  },
  {
    name: 'forwards text in any script as it is',
    async run({ post, events }) {
      const sent = event({ event: 'größe', payload: { text: '日本語 🧶' } });
      await post(BATCH, { batch: [sent] });
      deepEqual(events(), [sent]);
    },
  },
  {
    name: 'forwards the events of a batch in order',
    async run({ post, events }) {
      const order = ['a', 'b', 'c', 'd'];
      await post(BATCH, { batch: order.map((name) => event({ event: name })) });
      deepEqual(names(events()), order);
    },
  },
  {
    name: 'takes the path without its last slash',
    async run({ post, events }) {
      isSuccess((await post(BATCH.slice(0, -1), { batch: [event()] })).status);
      equal(events().length, 1);
    },
  },
  {
    name: 'forwards a single event without a timestamp',
    async run({ post, service }) {
      const { timestamp, ...rest } = event();
      isSuccess((await post(SINGLE, { ...rest, timestamp })).status);
      deepEqual(
        service.forwarded.map(({ path, body }) => [path, body]),
        [[SINGLE, rest]],
      );
    },
  },
  {
    name: 'answers an empty batch 2xx and forwards nothing',
    async run({ post, service }) {
      isSuccess((await post(BATCH, { batch: [] })).status);
      equal(service.forwarded.length, 0);
    },
  },
  {
    name: 'forwards no header of the visitor',
    async run({ post, service }) {
      await post(BATCH, { batch: [event()] }, { Cookie: 'a=secret', Referer: 'https://a.example/secret' });
      ok(!JSON.stringify(service.forwarded[0]?.headers ?? {}).includes('secret'), 'a header was forwarded');
    },
  },
];

/** Events and upserts that the relay refuses. */
const refusing: Check[] = [
  {
    name: 'names an invalid event in `rejected`, and forwards the others',
    async run({ post, events }) {
      const [good, bad, other] = [event({ event: 'a' }), event({ event: '' }), event({ event: 'c' })];
      const { status, json } = await post(BATCH, { batch: [good, bad, other] });
      isSuccess(status);
      deepEqual(
        json.rejected?.map(({ uuid }) => uuid),
        [bad.uuid],
      );
      deepEqual(names(events()), ['a', 'c']);
    },
  },
  ...(
    [
      ['a visitor id that is no lower-case UUID', { correlationValue: 'ABC' }],
      ['another source than custom', { source: 'web' }],
      ['another correlationKey than _id', { correlationKey: 'email' }],
      ['a timestamp that is no date', { timestamp: 'yesterday' }],
    ] as const
  ).map(
    ([what, more]): Check => ({
      name: `rejects ${what}`,
      async run({ post, events }) {
        const { json } = await post(BATCH, { batch: [event(more)] });
        deepEqual([json.rejected?.length, events().length], [1, 0]);
      },
    }),
  ),
  {
    name: 'rejects an unsigned $identify, and forwards the others',
    async run({ post, events }) {
      const { json } = await post(BATCH, {
        batch: [event({ event: '$identify', payload: { distinct_id: 'ann' } }), event({ event: 'b' })],
      });
      equal(json.rejected?.length, 1);
      deepEqual(names(events()), ['b']);
    },
  },
  {
    name: 'forwards no unsigned $identify that comes alone',
    async run({ post, service }) {
      await post(SINGLE, event({ event: '$identify', payload: { distinct_id: 'ann' } }));
      equal(service.forwarded.length, 0);
    },
  },
  {
    name: 'rejects the signature of another customer',
    async run({ post, events }) {
      const forged = event({ event: '$identify', payload: { distinct_id: 'ann' }, signature: sign('eve') });
      equal((await post(BATCH, { batch: [forged] })).json.rejected?.length, 1);
      equal(events().length, 0);
    },
  },
  {
    name: 'forwards a signed $identify without its signature',
    async run({ post, events }) {
      const made = event({ event: '$identify', payload: { distinct_id: 'ann' } });
      isSuccess((await post(BATCH, { batch: [{ ...made, signature: sign('ann') }] })).status);
      deepEqual(events(), [made]);
    },
  },
  {
    name: 'answers an unsigned upsert 422',
    async run({ post, service }) {
      equal((await post(UPSERT, { primary_key: 'ann', properties: { plan: 'pro' } })).status, 422);
      equal(service.forwarded.length, 0);
    },
  },
  {
    name: 'forwards a signed upsert without its signature',
    async run({ post, service }) {
      const upsert = { primary_key: 'ann', properties: { plan: 'pro' } };
      isSuccess((await post(UPSERT, { ...upsert, signature: sign('ann') })).status);
      deepEqual(
        service.forwarded.map(({ path, body }) => [path, body]),
        [[UPSERT, upsert]],
      );
    },
  },
];

const refusal = (
  name: string,
  status: number,
  run: (post: Parameters<Check['run']>[0]['post']) => Promise<Reply>,
): Check => ({
  name,
  async run({ post, service }) {
    const reply = await run(post);
    equal(reply.status, status);
    ok(reply.headers.get('clew-relay'), 'expected the header clew-relay');
    equal(service.forwarded.length, 0);
  },
});

/** Bodies, types and encodings. */
const bodies: Check[] = [
  refusal('answers a body that is no JSON 400', 400, (post) => post(BATCH, '{')),
  refusal('answers a body without a batch 400', 400, (post) => post(BATCH, { batch: 'x' })),
  refusal('answers a body of more than 102,400 bytes 413', 413, (post) =>
    post(BATCH, { batch: [event({ payload: 'x'.repeat(102_400) })] }),
  ),
  refusal('answers gzip that inflates to more than 102,400 bytes 413', 413, (post) =>
    post(BATCH, gzipSync(JSON.stringify({ batch: [event({ payload: 'x'.repeat(5_000_000) })] })), {
      'Content-Encoding': 'gzip',
    }),
  ),
  refusal('answers broken gzip 400', 400, (post) =>
    post(BATCH, new Uint8Array([31, 139, 8, 0, 1, 2, 3]), { 'Content-Encoding': 'gzip' }),
  ),
  refusal('answers another encoding 415', 415, (post) =>
    post(BATCH, { batch: [event()] }, { 'Content-Encoding': 'br' }),
  ),
  refusal('answers another type 415', 415, (post) =>
    post(BATCH, { batch: [event()] }, { 'Content-Type': 'text/html' }),
  ),
  refusal('answers another path 404', 404, (post) => post('/api/events/other', { batch: [event()] })),
  {
    name: 'answers another method than POST 405',
    async run({ send }) {
      equal((await send(BATCH, { method: 'PUT', body: '{}' })).status, 405);
    },
  },
  {
    name: 'takes gzip',
    async run({ post, events }) {
      const sent = event();
      isSuccess(
        (await post(BATCH, gzipSync(JSON.stringify({ batch: [sent] })), { 'Content-Encoding': 'gzip' })).status,
      );
      deepEqual(events(), [sent]);
    },
  },
  {
    name: 'takes text/plain, the type of beacons',
    async run({ post, service }) {
      const sent = event();
      await post(BATCH, { batch: [sent] }, { 'Content-Type': 'text/plain;charset=UTF-8' });
      deepEqual(
        service.forwarded.map(({ headers, body }) => [headers['content-type']?.split(';')[0], body]),
        [['application/json', { batch: [sent] }]],
      );
    },
  },
];

/** Pages on another origin. */
const cors: Check[] = [
  {
    name: 'answers a preflight of an allowed origin',
    async run({ send }) {
      const { status, headers } = await send(BATCH, {
        method: 'OPTIONS',
        headers: {
          Origin: SETTINGS.origin,
          'Access-Control-Request-Method': 'POST',
          'Access-Control-Request-Headers': 'content-type,content-encoding',
        },
      });
      isSuccess(status);
      equal(headers.get('access-control-allow-origin'), SETTINGS.origin);
      const allowed = (headers.get('access-control-allow-headers') ?? '').toLowerCase();
      ok(/content-type/.test(allowed) && /content-encoding/.test(allowed), `allowed headers: ${allowed || 'none'}`);
    },
  },
  {
    name: 'lets pages of an allowed origin read its headers',
    async run({ post }) {
      const { headers } = await post(BATCH, { batch: [event()] }, { Origin: SETTINGS.origin });
      equal(headers.get('access-control-allow-origin'), SETTINGS.origin);
      const exposed = (headers.get('access-control-expose-headers') ?? '').toLowerCase();
      for (const name of ['clew-relay', 'clew-handovers', 'retry-after'])
        ok(exposed.includes(name), `expected ${name} in Access-Control-Expose-Headers, got ${exposed || 'none'}`);
    },
  },
  {
    name: 'lets pages of an allowed origin read a refusal',
    async run({ post }) {
      const { status, headers } = await post(BATCH, '{', { Origin: SETTINGS.origin });
      deepEqual([status, headers.get('access-control-allow-origin')], [400, SETTINGS.origin]);
    },
  },
  {
    name: 'answers another origin 403',
    async run({ post, service }) {
      equal((await post(BATCH, { batch: [event()] }, { Origin: 'https://evil.example' })).status, 403);
      equal(service.forwarded.length, 0);
    },
  },
];

export const requestChecks: readonly Check[] = [...forwarding, ...refusing, ...bodies, ...cors];
