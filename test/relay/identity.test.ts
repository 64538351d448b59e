// @module-tag promise
import { describe, expect, it } from 'vitest';
import { signPrimaryKey } from '../../src/relay.ts';
import { createVisitor, KEY, useCollector } from '../collector/running.ts';
import { BATCH, event, SINGLE, UPSERT, useRelays } from './stage.ts';

const SECRET = 'an-identity-secret-of-enough-bytes';
const collector = useCollector();
const openRelay = useRelays(() => ({ baseUrl: collector().url, apiKey: KEY, identitySecret: SECRET }));

/** Signatures of an attacker who has Ben's signature and wants to be Ann. */
const forgeries = async (): Promise<[string, unknown][]> => {
  const [anns, bens] = [await signPrimaryKey(SECRET, 'ann'), await signPrimaryKey(SECRET, 'ben')];
  return [
    ['none', undefined],
    ['empty', ''],
    ['Ben’s', bens],
    ['of another secret', await signPrimaryKey(`another ${SECRET}`, 'ann')],
    ['of another spelling', await signPrimaryKey(SECRET, 'Ann')],
    ['in upper case', anns.toUpperCase()],
    ['truncated', anns.slice(0, 63)],
    ['truncated by a pair', anns.slice(0, 62)],
    ['with more behind it', `${anns}00`],
    ['with a line behind it', `${anns}\n`],
    ['with a space before it', ` ${anns}`],
    ['of zeros', '0'.repeat(64)],
    ['in base64', Buffer.from(anns, 'hex').toString('base64')],
    ['a number', 7],
    ['true', true],
    ['null', null],
    ['a list', [anns]],
    ['an object', { toString: anns }],
  ];
};

/** Two people whom the collector knows, each with a visitor id. */
const meet = async () => {
  const [ann, ben] = [createVisitor(), createVisitor()];
  await collector().batch(ann.identify('ann'), ben.identify('ben'), ben.event('mine'));
  await collector().upsert('ann', { plan: 'pro' });
  return { ann, ben, customers: await collector().customers() };
};

describe('63 an unproven identity', () => {
  it('63 in a batch identifies no customer, is named in the answer, and blocks no other event', async () => {
    const { ben, customers } = await meet();
    const relay = await openRelay();
    const names: string[] = [];
    for (const [what, signature] of await forgeries()) {
      const forged = { ...ben.identify('ann'), signature };
      const reply = await relay.post(BATCH, { batch: [ben.event(`${what} 1`), forged, ben.event(`${what} 2`)] });
      expect(reply.status, what).toBe(201);
      expect(reply.json, what).toEqual({
        rejected: [{ uuid: forged.uuid, reason: expect.stringMatching(/^signature: expected/) }],
      });
      names.push(`${what} 1`, `${what} 2`);
    }
    expect(await collector().customers()).toEqual(customers);
    expect((await collector().events()).map((each) => each.event)).toEqual([
      '$identify',
      '$identify',
      'mine',
      ...names,
    ]);
  });

  it('63 on the single-event endpoint identifies no customer and is not forwarded', async () => {
    const { ben, customers } = await meet();
    const relay = await openRelay();
    for (const [what, signature] of await forgeries()) {
      const forged = { ...ben.identify('ann'), signature };
      const reply = await relay.post(SINGLE, forged);
      expect(reply, what).toMatchObject({ status: 200, json: { rejected: [{ uuid: forged.uuid }] } });
    }
    expect(await collector().customers()).toEqual(customers);
    expect(await collector().events()).toHaveLength(3);
  });

  it('63 sets no properties', async () => {
    const { customers } = await meet();
    const relay = await openRelay();
    for (const [what, signature] of await forgeries()) {
      for (const properties of [{ plan: 'free' }, { plan: null }, undefined]) {
        expect((await relay.post(UPSERT, { primary_key: 'ann', properties, signature })).status, what).toBe(422);
      }
    }
    expect(await collector().customers()).toEqual(customers);
  });

  it('63 is not proven by a signature elsewhere, a duplicate key in JSON, or an allowed upsert', async () => {
    const { ben, customers } = await meet();
    const signature = await signPrimaryKey(SECRET, 'ben');
    const relay = await openRelay({ allowUnsignedUpsert: true });
    const inside = { ...ben.identify('ann'), payload: { distinct_id: 'ann', signature } };
    expect((await relay.post(BATCH, { batch: [inside], signature })).json).toMatchObject({ rejected: [{}] });
    const text = JSON.stringify({ ...ben.identify('ben'), signature });
    const twice = text.replace('"distinct_id":"ben"', '"distinct_id":"ben","distinct_id":"ann"');
    expect((await relay.post(BATCH, `{"batch":[${twice}]}`)).json).toMatchObject({ rejected: [{}] });
    expect(await collector().customers()).toEqual(customers);
  });
});

describe('63 a proven identity', () => {
  it('63 is accepted on every endpoint, and its signature is not forwarded', async () => {
    const bodies: string[] = [];
    const relay = await openRelay({
      fetch: (address, init) => {
        bodies.push(`${init?.body}`);
        return fetch(address, init);
      },
    });
    const visitor = createVisitor();
    const signature = await signPrimaryKey(SECRET, 'dörte@example.com 👩‍🚀');
    const signed = { ...visitor.identify('dörte@example.com 👩‍🚀'), signature };
    expect((await relay.post(BATCH, { batch: [signed, event('next', { signature })] })).status).toBe(201);
    expect((await relay.post(SINGLE, { ...signed, uuid: crypto.randomUUID() })).status).toBe(201);
    const upsert = { primary_key: 'dörte@example.com 👩‍🚀', properties: { plan: 'pro' }, signature };
    expect((await relay.post(UPSERT, upsert)).status).toBe(201);
    expect(bodies).toHaveLength(3);
    expect(bodies.join()).not.toContain('signature');
    expect(bodies.join()).not.toContain(signature);
    expect((await collector().customers())[0]).toMatchObject({
      primaryKey: 'dörte@example.com 👩‍🚀',
      properties: { plan: 'pro' },
      correlationValues: [visitor.correlationValue],
    });
  });
});
