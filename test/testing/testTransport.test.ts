import { describe, expect, it } from 'vitest';
import { createTestTransport, type TestTransport } from '../../src/testing.ts';

const BATCH = '/clew/api/events/batch/';
const event = (uuid: string, name = 'seen') => ({ uuid, event: name });

const send = ({ transport }: TestTransport, url: string, body: unknown, leaving = false) =>
  transport({ url, body: JSON.stringify(body), headers: {}, leaving });

describe('a test transport', () => {
  it('refuses beacons while offline', async () => {
    const service = createTestTransport();
    service.fail();
    expect(send(service, BATCH, { batch: [event('a')] }, true)).toBe(false);
    expect(service.events()).toEqual([]);
    expect(service.requests).toHaveLength(1);
    service.recover();
    expect(await send(service, BATCH, { batch: [event('a')] }, true)).toMatchObject({ outcome: 'delivered' });
    expect(service.events()).toEqual([event('a')]);
  });

  it('gives no answer while offline', async () => {
    const service = createTestTransport();
    service.fail();
    await expect(send(service, BATCH, { batch: [event('a')] })).rejects.toThrow('no connection');
    expect(service.events()).toEqual([]);
  });

  it.each([
    [401, 'refused'],
    [413, 'rejected'],
    [503, 'failed'],
    [204, 'delivered'],
  ])('answers %i, which counts as %s', async (status, outcome) => {
    const service = createTestTransport();
    service.fail(status);
    expect(await send(service, BATCH, { batch: [event('a')] })).toEqual({ outcome, status, message: `${status}` });
    expect(service.events()).toHaveLength(outcome === 'delivered' ? 1 : 0);
  });

  it('stores each event once, and finds events by name', async () => {
    const service = createTestTransport();
    await send(service, BATCH, { batch: [event('a'), event('b', 'signup')] });
    await send(service, '/clew/events/', event('a'));
    await send(service, '/clew/events/', event('c'));
    expect(service.events()).toEqual([event('a'), event('b', 'signup'), event('c')]);
    expect(service.events('signup')).toEqual([event('b', 'signup')]);
  });

  it('returns copies', async () => {
    const service = createTestTransport();
    await send(service, BATCH, { batch: [event('a')] });
    await send(service, '/clew/api/customers/upsert', { primary_key: 'ann', properties: { plan: 'pro' } });
    const [[first], [upsert]] = [service.events(), service.upserts()];
    Object.assign(first as object, { event: 'changed' });
    Object.assign(upsert?.properties as object, { plan: 'changed' });
    expect(service.events()).toEqual([event('a')]);
    expect(service.upserts()).toEqual([{ primary_key: 'ann', properties: { plan: 'pro' } }]);
  });
});
