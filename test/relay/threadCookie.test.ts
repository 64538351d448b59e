import { expect, it } from 'vitest';
import { useUpstream } from '../upstream.ts';
import { BATCH, event, useRelays } from './stage.ts';

const upstream = useUpstream();
const openRelay = useRelays(() => ({ baseUrl: upstream.url }));
const ID = '01234567-89ab-4cde-8f01-23456789abcd';
const THREAD = `${ID}.0.`;

const sendWith = async (relay: Awaited<ReturnType<typeof openRelay>>, cookie: string, body = {}) => {
  const reply = await relay.send(BATCH, {
    body: JSON.stringify({ batch: [event('a')], ...body }),
    headers: { Cookie: cookie },
  });
  return reply.headers.get('set-cookie');
};

it('renews the cookie of the thread as it came, for the domain that it is given', async () => {
  const relay = await openRelay({ threadCookie: { domain: 'example.com' } });
  const attributes = 'Path=/; Max-Age=34560000; SameSite=Lax; Secure; Domain=example.com';
  expect(await sendWith(relay, `a=1; clew=${THREAD}; b=2`)).toBe(`clew=${THREAD}; ${attributes}`);
  expect(await sendWith(relay, `clew=${ID}.12.2166136261`)).toBe(`clew=${ID}.12.2166136261; ${attributes}`);
});

it('renews it where the service has refused, too: the visitor has been here', async () => {
  const relay = await openRelay({ threadCookie: { domain: 'example.com' } });
  upstream.answer(400);
  expect(await sendWith(relay, `clew=${THREAD}`)).toBe(
    `clew=${THREAD}; Path=/; Max-Age=34560000; SameSite=Lax; Secure; Domain=example.com`,
  );
});

it('leaves Secure out for development on plain http', async () => {
  const relay = await openRelay({ threadCookie: { domain: 'example.com', secure: false } });
  expect(await sendWith(relay, `clew=${THREAD}`)).toBe(
    `clew=${THREAD}; Path=/; Max-Age=34560000; SameSite=Lax; Domain=example.com`,
  );
});

it.each([
  ['none', 'a=1'],
  ['one of another name', `xclew=${THREAD}; clew2=${THREAD}`],
  ['no thread', 'clew=hello'],
  ['more than a thread', `clew=${THREAD}x`],
  ['attributes', `clew=${THREAD}, clew=x`],
])('sets no cookie when there is %s', async (_what, cookie) => {
  const relay = await openRelay({ threadCookie: { domain: 'example.com' } });
  expect(await sendWith(relay, cookie)).toBeNull();
});

it('sets none unless it is asked to', async () => {
  expect(await sendWith(await openRelay(), `clew=${THREAD}`)).toBeNull();
});
