import { expect, it } from 'vitest';
import { useUpstream } from '../upstream.ts';
import { BATCH, event, useRelays } from './stage.ts';

const upstream = useUpstream();
const openRelay = useRelays(() => ({ baseUrl: upstream.url }));
const ID = '01234567-89ab-4cde-8f01-23456789abcd';
const VISITOR_ID = `${ID}.0.`;

const sendWith = async (relay: Awaited<ReturnType<typeof openRelay>>, cookie: string, body = {}) => {
  const reply = await relay.send(BATCH, {
    body: JSON.stringify({ batch: [event('a')], ...body }),
    headers: { Cookie: cookie },
  });
  return reply.headers.get('set-cookie');
};

it('the relay renews the cookie of the visitor id unchanged, for the configured domain', async () => {
  const relay = await openRelay({ visitorCookie: { domain: 'example.com' } });
  const attributes = 'Path=/; Max-Age=34560000; SameSite=Lax; Secure; Domain=example.com';
  expect(await sendWith(relay, `a=1; clew=${VISITOR_ID}; b=2`)).toBe(`clew.server=${VISITOR_ID}; ${attributes}`);
  expect(await sendWith(relay, `clew=${ID}.12.2166136261`)).toBe(`clew.server=${ID}.12.2166136261; ${attributes}`);
});

it('the relay renews the cookie also if the service has refused the request', async () => {
  const relay = await openRelay({ visitorCookie: { domain: 'example.com' } });
  upstream.answer(400);
  expect(await sendWith(relay, `clew=${VISITOR_ID}`)).toBe(
    `clew.server=${VISITOR_ID}; Path=/; Max-Age=34560000; SameSite=Lax; Secure; Domain=example.com`,
  );
});

it('the relay renews the newest value, the tracker’s or its own', async () => {
  const relay = await openRelay({ visitorCookie: { domain: 'example.com' } });
  const [old, newer] = [`${ID}.12.2166136261`, `${ID}.13.`];
  for (const cookie of [
    `clew=${newer}; clew.server=${old}`,
    `clew=${old}; clew.server=${newer}`,
    `clew.server=${newer}`,
  ])
    expect(await sendWith(relay, cookie)).toMatch(`clew.server=${newer};`);
});

it('the relay leaves out Secure on plain http, for development', async () => {
  const relay = await openRelay({ visitorCookie: { domain: 'example.com', secure: false } });
  expect(await sendWith(relay, `clew=${VISITOR_ID}`)).toBe(
    `clew.server=${VISITOR_ID}; Path=/; Max-Age=34560000; SameSite=Lax; Domain=example.com`,
  );
});

it.each([
  ['none', 'a=1'],
  ['one of another name', `xclew=${VISITOR_ID}; clew2=${VISITOR_ID}`],
  ['no thread', 'clew=hello'],
  ['more than a thread', `clew=${VISITOR_ID}x`],
  ['attributes', `clew=${VISITOR_ID}, clew=x`],
])('the relay sets no cookie if there is %s', async (_what, cookie) => {
  const relay = await openRelay({ visitorCookie: { domain: 'example.com' } });
  expect(await sendWith(relay, cookie)).toBeNull();
});

it('the relay sets no cookie without the option', async () => {
  expect(await sendWith(await openRelay(), `clew=${VISITOR_ID}`)).toBeNull();
});
