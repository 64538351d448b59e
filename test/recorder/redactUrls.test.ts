import { describe, expect, it } from 'vitest';
import { redactUrls } from '../../src/recorder/redactUrls.ts';

const redact = redactUrls();
const cleaned = (payload: unknown) => redact({ event: 'page_view', payload }).payload;

describe('redacts secrets in URLs:', () => {
  it.each([
    ['https://shop.example/reset?token=abc', 'https://shop.example/reset?token=redacted'],
    ['/reset?token=abc&step=2', '/reset?token=redacted&step=2'],
    ['reset?step=2&token=abc', 'reset?step=2&token=redacted'],
    ['?access_token=abc', '?access_token=redacted'],
    ['/?accessToken=abc&inviteKey=7', '/?accessToken=redacted&inviteKey=redacted'],
    ['/?api_key=1&apikey=2&X-Api-Key=3', '/?api_key=redacted&apikey=redacted&X-Api-Key=redacted'],
    ['/?password=a&passwd=b&pwd=c', '/?password=redacted&passwd=redacted&pwd=redacted'],
    ['/?X-Amz-Signature=a&sig=b&PHPSESSID=c', '/?X-Amz-Signature=redacted&sig=redacted&PHPSESSID=redacted'],
    ['/callback?code=abc&state=xyz', '/callback?code=redacted&state=xyz'],
    ['/app#access_token=abc&expires_in=3600', '/app#access_token=redacted&expires_in=3600'],
    ['/app#/reset?token=abc', '/app#/reset?token=redacted'],
    ['/?to%6ben=abc', '/?to%6ben=redacted'],
    ['/?id=eyJhbGciOiJI.eyJzdWIi.c2ln', '/?id=redacted'],
    ['/?who=ann@example.com', '/?who=redacted'],
    ['/?who=ann%40example.com&x=1', '/?who=redacted&x=1'],
    ['/?who=ann%2540example.com', '/?who=redacted'],
    ['/unsubscribe/ann@example.com/now', '/unsubscribe/redacted/now'],
    ['mailto:ann@example.com', 'mailto:redacted'],
    ['https://ann:hunter2@shop.example/a', 'https://shop.example/a'],
    ['/login?next=%2Freset%3Ftoken%3Dabc%26a%3D1', '/login?next=%2Freset%3Ftoken%3Dredacted%26a%3D1'],
    ['/login?next=/reset?token=abc', '/login?next=%2Freset%3Ftoken%3Dredacted'],
    ['Refused: https://shop.example/?token=abc (403)', 'Refused: https://shop.example/?token=redacted (403)'],
  ])('%s', (url, expected) => {
    expect(cleaned(url)).toBe(expected);
  });
});

describe('does not change:', () => {
  it.each([
    'https://shop.example/shoes?utm_source=letter&utm_medium=email&gclid=abc&q=red+shoes%20&page=2#reviews',
    '/?author=ann&keyword=monkey&postcode=1010&encode=1&design=x&state=on',
    'https://cdn.example/npm/uuid@14.0.3/dist/index.js',
    'https://social.example/@ann/posts',
    'ann@example.com',
    'token=abc',
    'and/or',
    'https://shop.example/%E0%A4%A?x=%',
    '',
    7,
    null,
    true,
    undefined,
  ])('%s', (payload) => {
    expect(cleaned(payload)).toBe(payload);
  });
});

it('redacts URLs anywhere in a payload, and changes nothing else', () => {
  const url = '/?token=abc';
  const deep = (levels: number, end: unknown): unknown => (levels ? { list: [deep(levels - 1, end)] } : end);
  expect(cleaned({ url, n: 1, list: [url, { referrer: url, none: null }] })).toEqual({
    url: '/?token=redacted',
    n: 1,
    list: ['/?token=redacted', { referrer: '/?token=redacted', none: null }],
  });
  expect(JSON.stringify(cleaned(deep(200, url)))).toBe(JSON.stringify(deep(200, '/?token=redacted')));
});

it('keeps the name of the event, and does not change its argument', () => {
  const given = Object.freeze({ event: '/?token=abc', payload: Object.freeze({ url: '/?token=abc' }) });
  expect(redact(given)).toEqual({ event: '/?token=abc', payload: { url: '/?token=redacted' } });
});

it('redacts a value that is nested too deep as a whole', () => {
  const nested = (depth: number): string => (depth ? `/?next=${encodeURIComponent(nested(depth - 1))}` : '/?token=abc');
  for (const depth of [1, 3, 5, 9]) expect(cleaned(nested(depth))).not.toContain('abc');
});

it('accepts other names instead of its own, also as a global expression', () => {
  const own = redactUrls(/^invite/g);
  for (let i = 0; i < 3; i++)
    expect(own({ event: 'a', payload: '/?invite=1&token=2&inviteId=3' }).payload).toBe(
      '/?invite=redacted&token=2&inviteId=redacted',
    );
});

it.each(['?', '/?a=', 'a@', '//', '&a', '/?a=%3F', 'a.', '#', 'eyJ', '/?a;', '@a.'])(
  'handles 60,000 repeated characters quickly: %s',
  (part) => {
    const begun = performance.now();
    cleaned({ url: `/${part.repeat(60_000 / part.length)}`, text: part.repeat(60_000 / part.length) });
    expect(performance.now() - begun).toBeLessThan(1000);
  },
);
