// @module-tag promise
import { describe, expect, it } from 'vitest';
import { start } from './page.ts';

const service = { baseUrl: 'https://service.example', apiKey: 'the-key' };

describe('a tracker without a relay', () => {
  it('sends the key to the service, without signatures and sequence numbers', async () => {
    const { tracker, requests, events, upserts } = start(service);
    tracker.track('seen');
    tracker.identify('ann', { plan: 'pro' }, { signature: 'proof' });
    await tracker.trackNow('signup');
    await tracker.flush();
    expect(events().map(({ event }) => event)).toEqual(['seen', '$identify', 'signup']);
    for (const event of events()) {
      expect(event).not.toHaveProperty('seq');
      expect(event).not.toHaveProperty('signature');
    }
    expect(upserts()).toEqual([{ primary_key: 'ann', properties: { plan: 'pro' } }]);
    for (const { body } of requests) expect(JSON.parse(`${body}`)).not.toHaveProperty('clock');
    for (const { body } of requests) expect(JSON.parse(`${body}`)).not.toHaveProperty('books');
    for (const { headers, credentials } of requests) {
      expect(headers).toEqual({ 'Content-Type': 'application/json', Authorization: 'Api-Key the-key' });
      expect(credentials).toBeUndefined();
    }
  });

  it('sends single events to eventsUrl, and everything else to baseUrl', async () => {
    const { tracker, requests } = start({ ...service, eventsUrl: 'https://events.example/v2/' });
    tracker.identify('ann', { plan: 'pro' });
    await tracker.trackNow('signup');
    expect(requests.map(({ url }) => url)).toEqual([
      'https://service.example/api/events/batch/',
      'https://service.example/api/customers/upsert',
      'https://events.example/v2/events/',
    ]);
  });
});

describe('a tracker with a relay', () => {
  it('sends no key and numbers the events of the page load, also of several visitor ids', async () => {
    const { tracker, requests, events } = start();
    tracker.track('a');
    tracker.track('b');
    tracker.reset();
    tracker.track('c');
    await tracker.flush();
    const [load] = events()[0]?.seq ?? [];
    expect(events().map(({ seq }) => seq)).toEqual([
      [load, 1],
      [load, 2],
      [load, 3],
    ]);
    expect(load).toBeGreaterThan(2 ** 48);
    expect(requests[0]?.headers).toEqual({ 'Content-Type': 'application/json' });
  });

  it('sends single events to baseUrl, too', async () => {
    const { tracker, requests } = start({ baseUrl: '/clew' });
    await tracker.trackNow('signup');
    expect(requests.map(({ url }) => url)).toEqual(['/clew/events/']);
  });
});
