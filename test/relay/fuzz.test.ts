import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { useUpstream } from '../upstream.ts';
import { anyBody, batchText, hold, mixedEvents, oddText } from './arbitraries.ts';
import { BATCH, expectPristine, SINGLE, UPSERT, useRelays } from './stage.ts';

const upstream = useUpstream();
const openRelay = useRelays(() => ({ baseUrl: upstream.url, allowUnsignedUpsert: true }));
const path = fc.constantFrom(BATCH, SINGLE, UPSERT);
const type = fc.constantFrom('application/json', 'text/plain;charset=UTF-8');
afterEach(expectPristine);

describe('any request to the relay', () => {
  it('causes no 5xx, and every forwarded body is JSON in the shapes of the contract', async () => {
    const relay = await openRelay();
    const property = fc.asyncProperty(path, type, fc.boolean(), anyBody, async (to, contentType, isZipped, body) => {
      upstream.received.length = 0;
      const sent = isZipped ? gzipSync(body) : Buffer.from(body);
      const headers = { 'Content-Type': contentType, ...(isZipped && { 'Content-Encoding': 'gzip' }) };
      const reply = await relay.send(to, { body: sent, headers });
      expect([200, 201, 400, 413]).toContain(reply.status);
      expect(upstream.received).toHaveLength(reply.status === 201 ? 1 : 0);
      for (const forwarded of upstream.bodies()) expectShape(to, forwarded as Record<string, unknown>);
      expectPristine();
    });
    await hold(property);
  }, 60_000);

  it('with valid and invalid events is forwarded with the valid ones in order, and the others are named', async () => {
    const relay = await openRelay();
    const property = fc.asyncProperty(mixedEvents, async (events) => {
      upstream.received.length = 0;
      const reply = await relay.post(BATCH, batchText(events));
      const [good, bad] = [true, false].map((is) => events.filter(({ isGood }) => isGood === is));
      expect(reply.status).toBe(good?.length ? 201 : 200);
      const expected = good?.map(({ text }) => known(JSON.parse(text)));
      expect(upstream.received.map(({ text }) => text)).toEqual(
        good?.length ? [JSON.stringify({ batch: expected })] : [],
      );
      const rejected = (reply.json as { rejected: object[] } | undefined)?.rejected ?? [];
      expect(rejected).toHaveLength(bad?.length ?? 0);
      for (const each of rejected) expect(each).toEqual({ uuid: expect.any(String), reason: expect.any(String) });
    });
    await hold(property);
  }, 60_000);

  it('with a random signature, name or key identifies no customer', async () => {
    const relay = await openRelay({ identitySecret: 'an-identity-secret-of-enough-bytes', allowUnsignedUpsert: false });
    const anything = fc.oneof(oddText, fc.jsonValue(), fc.stringMatching(/^[\da-fA-F]{64}$/));
    const property = fc.asyncProperty(oddText, anything, async (primaryKey, signature) => {
      const upsert = await relay.post(UPSERT, { primary_key: primaryKey, signature });
      expect(upsert.status).toBe(primaryKey && !/\p{Surrogate}/u.test(primaryKey) ? 422 : 400);
      const identify = { ...IDENTIFY, payload: { distinct_id: primaryKey }, signature };
      expect((await relay.post(BATCH, { batch: [identify] })).json).toMatchObject({
        rejected: [{ uuid: IDENTIFY.uuid }],
      });
      expect(upstream.received).toEqual([]);
    });
    await hold(property, 100);
  }, 60_000);
});

const IDENTIFY = {
  uuid: '11111111-2222-4333-8444-555555555555',
  event: '$identify',
  source: 'custom',
  correlationKey: '_id',
  correlationValue: '01234567-89ab-4cde-8f01-23456789abcd',
};

const FIELDS = ['uuid', 'timestamp', 'event', 'source', 'correlationKey', 'correlationValue', 'payload'];
/** The fields of an event that the relay forwards. */
const known = (event: Record<string, unknown>) =>
  Object.fromEntries(FIELDS.filter((field) => event[field] !== undefined).map((field) => [field, event[field]]));

const expectShape = (to: string, body: Record<string, unknown>) => {
  if (to === UPSERT) {
    expect(['primary_key', 'primary_key,properties']).toContain(`${Object.keys(body)}`);
    expect(body.primary_key).toEqual(expect.any(String));
    return;
  }
  const events = to === BATCH ? (body.batch as object[]) : [body];
  expect(events.length).toBeGreaterThan(0);
  for (const event of events) for (const field of Object.keys(event)) expect(FIELDS).toContain(field);
};
