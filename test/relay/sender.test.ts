import Bowser from 'bowser';
import { isbot } from 'isbot';
import { describe, expect, it } from 'vitest';
import { shortened, standardForm } from '../../src/relay/address.ts';
import type { Accept, RelayOptions } from '../../src/relay.ts';
import { openInMemory, requestOf } from './requests.ts';
import { BATCH, event, SINGLE } from './stage.ts';

const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1';
const BOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
const IDENTIFY = event('$identify', { payload: { distinct_id: 'ann' } });

const open = (options: Partial<RelayOptions>) => {
  const errors: unknown[] = [];
  const { relay, received } = openInMemory({ onError: (error) => errors.push(error), ...options });
  const post = async (body: object, headers: Record<string, string> = {}, address?: string, path = BATCH) => {
    const response = await relay(requestOf(body, { path, headers }), { address });
    const text = await response.text();
    return { status: response.status, json: text && JSON.parse(text) };
  };
  /** The payload of one event that is sent with these headers, as the service gets it. */
  const payloadOf = async (payload: unknown, headers: Record<string, string> = {}, address?: string) => {
    await post({ batch: [event('signup', { payload })] }, headers, address);
    return JSON.parse(received.at(-1)?.body ?? '').batch[0].payload;
  };
  return { post, payloadOf, received, errors, relay };
};

describe('the option `enrich`', () => {
  const country = { header: 'CF-IPCountry', field: 'country' };

  it('adds the country that a CDN has written, and nothing that is no country', async () => {
    const { payloadOf } = open({ enrich: { country } });
    expect(await payloadOf({ plan: 'pro' }, { 'CF-IPCountry': 'AT' })).toEqual({ plan: 'pro', country: 'AT' });
    for (const none of ['', 'XX', 'T1', 'at', 'Austria', 'AT, DE'])
      expect(await payloadOf({ plan: 'pro' }, { 'CF-IPCountry': none })).toEqual({ plan: 'pro' });
    expect(await payloadOf(undefined, { 'CF-IPCountry': 'AT' })).toEqual({ country: 'AT' });
  });

  it('replaces what a page has written into its fields, also if it knows no value', async () => {
    const { payloadOf } = open({ enrich: { country, address: { field: 'ip' } } });
    const forged = { country: 'DE', ip: '1.1.1.1', plan: 'pro' };
    expect(await payloadOf(forged, { 'CF-IPCountry': 'AT' }, '1.2.3.4')).toEqual({
      country: 'AT',
      ip: '1.2.3.0',
      plan: 'pro',
    });
    expect(await payloadOf(forged)).toEqual({ plan: 'pro' });
  });

  it('leaves `$identify` and a payload that is no object as they came', async () => {
    const { post, payloadOf, received } = open({ enrich: { country }, allowUnsignedIdentify: true });
    await post({ batch: [IDENTIFY] }, { 'CF-IPCountry': 'AT' });
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({ batch: [IDENTIFY] });
    for (const payload of ['text', 1, [1, 2], null])
      expect(await payloadOf(payload, { 'CF-IPCountry': 'AT' })).toEqual(payload);
  });

  it('adds to a single event, too', async () => {
    const { post, received } = open({ enrich: { country } });
    await post(event('signup', { payload: {} }), { 'CF-IPCountry': 'AT' }, undefined, SINGLE);
    expect(JSON.parse(received[0]?.body ?? '').payload).toEqual({ country: 'AT' });
  });

  it('adds the address whole, and behind proxies as `limits` finds it', async () => {
    const { payloadOf } = open({ enrich: { address: { field: 'ip', isWhole: true } }, limits: { trustedProxies: 1 } });
    expect(await payloadOf({}, { 'X-Forwarded-For': '9.9.9.9, 2001:DB8::1' }, '10.0.0.1')).toEqual({
      ip: '2001:db8::1',
    });
    expect(await payloadOf({}, { 'X-Forwarded-For': 'somewhere' }, '10.0.0.1')).toEqual({});
  });

  it.each([
    ['1.2.3.4', '1.2.3.0', '1.2.3.4'],
    ['1.2.3.4:5678', '1.2.3.0', '1.2.3.4'],
    ['::ffff:1.2.3.4', '1.2.3.0', '1.2.3.4'],
    ['2001:0db8:1:2:3:4:5:6', '2001:db8:1::', '2001:db8:1:2:3:4:5:6'],
    ['[2001:db8::1]:443', '2001:db8::', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::', 'fe80::1'],
    ['2002:102:304::1', '2002:102:300::', '2002:102:304::1'],
    ['1.2.3.400', undefined, undefined],
    ['<script>', undefined, undefined],
  ])('%s is shortened to %s, and whole is %s', (address, short, whole) => {
    expect([shortened(address), standardForm(address)]).toEqual([short, whole]);
  });

  describe('whose fields make a body too large for the service', () => {
    const agent = { 'User-Agent': 'A'.repeat(1000) };
    const enrich = { userAgent: (user_agent: string) => ({ user_agent }) };
    const large = (count: number, bytes: number) =>
      Array.from({ length: count }, (_, n) =>
        event(`e${n}`, { payload: { text: 'x'.repeat(bytes), user_agent: 'f' } }),
      );
    const bodies = (received: readonly { body: string }[]) => received.map(({ body }) => JSON.parse(body).batch);

    it('forwards the events in one request without the fields', async () => {
      const { post, received } = open({ enrich });
      const batch = large(300, 10);
      expect(await post({ batch }, agent)).toMatchObject({ status: 201 });
      expect(received).toHaveLength(1);
      const events = bodies(received).flat();
      expect(events.map(({ uuid }) => uuid)).toEqual(batch.map(({ uuid }) => uuid));
      for (const { payload } of events) expect(payload).toEqual({ text: 'xxxxxxxxxx' });
    });

    it('adds no fields to an event without room for them, and keeps none of the page', async () => {
      const { post, received } = open({ enrich });
      expect(await post({ batch: large(1, 102_000) }, agent)).toMatchObject({ status: 201 });
      expect(bodies(received)[0][0].payload).toEqual({ text: 'x'.repeat(102_000) });
    });
  });

  it('adds what a parser of `User-Agent` returns', async () => {
    const { payloadOf } = open({
      enrich: { userAgent: (agent) => ({ browser: Bowser.parse(agent).browser.name, none: undefined }) },
    });
    expect(await payloadOf({}, { 'User-Agent': PHONE })).toEqual({ browser: 'Safari' });
    expect(await payloadOf({ none: 'of the page' }, { 'User-Agent': PHONE })).toEqual({ browser: 'Safari' });
    expect(await payloadOf({})).toEqual({});
    expect(await payloadOf({ browser: 'of the page', none: 1, n: 1 })).toEqual({ n: 1 });
  });

  it('lets no page write a field that the parser returns for other clients', async () => {
    const { payloadOf } = open({
      enrich: { userAgent: (agent) => (agent.includes('Mobile') ? { phone: true } : { desktop: true }) },
    });
    await payloadOf({}, { 'User-Agent': 'desktop' });
    expect(await payloadOf({ desktop: 'forged' }, { 'User-Agent': 'Mobile' })).toEqual({ phone: true });
  });

  it.each<[string, () => object]>([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['returns what JSON cannot hold', () => ({ big: 1n })],
    ['returns no object', () => [1]],
    ['returns promises in its fields', () => ({ browser: Promise.reject(new Error('away')), os: Promise.reject(1) })],
    ['returns a list with a promise', () => [Promise.reject(new Error('away'))]],
    ['returns a promise', async () => ({ browser: 'x' })],
    ['returns a promise that rejects', () => Promise.reject(new Error('away'))],
  ])('loses no event if the parser %s', async (_how, userAgent) => {
    const { payloadOf, errors } = open({ enrich: { country, userAgent: userAgent as never } });
    expect(await payloadOf({}, { 'User-Agent': PHONE, 'CF-IPCountry': 'AT' })).toEqual({ country: 'AT' });
    expect(errors).toHaveLength(1);
  });

  it('passes `accept` the fields, and a bounded `User-Agent` to the parser', async () => {
    const lengths: number[] = [];
    const accept: Accept = ({ payload }) => (payload as { country?: string }).country === 'AT';
    const userAgent = (agent: string) => {
      lengths.push(agent.length);
      return {};
    };
    const { post } = open({ accept, enrich: { country, userAgent } });
    const headers = { 'User-Agent': 'x'.repeat(9000), 'CF-IPCountry': 'AT' };
    expect((await post({ batch: [event('a')] }, headers)).status).toBe(201);
    expect((await post({ batch: [event('a')] })).json.rejected).toHaveLength(1);
    expect(lengths).toEqual([1000]);
  });

  it('passes `accept` no field without a value', async () => {
    const payloads: unknown[] = [];
    const accept: Accept = ({ payload }) => !!payloads.push(payload);
    const { post } = open({ accept, enrich: { country }, bots: { isBot: isbot, mark: 'is_bot' } });
    await post({ batch: [event('a', { payload: { country: 'AT', n: 1 } })] }, { 'User-Agent': PHONE });
    expect(payloads).toStrictEqual([{ n: 1 }]);
  });
});

describe('the option `bots`', () => {
  const batch = () => ({ batch: [event('a'), event('b')] });

  it('drops the events of bots with the reason, counts them, and forwards the others', async () => {
    const { post, received, relay } = open({ bots: { isBot: isbot }, allowedEvents: ['a'] });
    // `b` is not allowed, but the bot is the reason.
    const reply = await post(batch(), { 'User-Agent': BOT });
    expect(reply).toMatchObject({ status: 200, json: { rejected: [{ reason: 'bot' }, { reason: 'bot' }] } });
    expect((await post(batch(), { 'User-Agent': PHONE })).status).toBe(201);
    expect((await post(batch())).status).toBe(201);
    expect(received).toHaveLength(2);
    expect(relay.metrics()).toContain('clew_relay_bot_events_total 2\n');
    expect(relay.metrics()).toContain('clew_relay_rejected_events_total{field="bots"} 2\n');
  });

  it('marks the events of bots, and no page can set or take away the mark', async () => {
    const { payloadOf, relay } = open({ bots: { isBot: isbot, mark: 'is_bot' } });
    expect(await payloadOf({ is_bot: false }, { 'User-Agent': BOT })).toEqual({ is_bot: true });
    expect(await payloadOf({ is_bot: true }, { 'User-Agent': PHONE })).toEqual({});
    expect(relay.metrics()).toContain('clew_relay_bot_events_total 1\n');
    expect(relay.metrics()).not.toContain('field="bots"');
  });

  it.each<[string, () => unknown]>([
    ['a promise', async () => true],
    ['a promise that rejects', () => Promise.reject(new Error('away'))],
    ['a text', () => 'yes'],
    ['nothing', () => undefined],
  ])('forwards events, reported and unmarked, if `isBot` returns %s', async (_what, isBot) => {
    for (const mark of [{}, { mark: 'is_bot' }]) {
      const { payloadOf, errors } = open({ bots: { isBot: isBot as () => boolean, ...mark } });
      expect(await payloadOf({ n: 1 }, { 'User-Agent': PHONE })).toEqual({ n: 1 });
      expect(errors.map(String)).toEqual([expect.stringMatching(/^TypeError: bots\.isBot: expected a boolean, got /)]);
    }
  });

  it('forwards events if `isBot` throws', async () => {
    const isBot = () => {
      throw new Error('broken');
    };
    const { post, errors } = open({ bots: { isBot } });
    expect((await post(batch(), { 'User-Agent': BOT })).status).toBe(201);
    expect(errors).toHaveLength(1);
  });
});
