// @module-tag promise
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactUrls } from '../../src/recorder/redactUrls.ts';

const redact = redactUrls();
const cleaned = (payload: unknown) => redact({ event: 'page_view', payload }).payload;

const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3-jVmNHl0w5N_XgL0';

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
    ['/login?next=/reset?token=abc', '/login?next=/reset?token=redacted'],
    [
      '/?pass=a&passcode=b&passPhrase=c&pw=d&PASS=e',
      '/?pass=redacted&passcode=redacted&passPhrase=redacted&pw=redacted&PASS=redacted',
    ],
    [
      '/?2fa=1&totp=2&mfaCode=3&accesscode=4&passkey=5',
      '/?2fa=redacted&totp=redacted&mfaCode=redacted&accesscode=redacted&passkey=redacted',
    ],
    ['/?user[pass]=a&user%5Bpass%5D=b', '/?user[pass]=redacted&user%5Bpass%5D=redacted'],
    ['/?t%256fken=abc', '/?t%256fken=redacted'],
    ['/?token=a%26b%23c;d&x=1', '/?token=redacted&x=1'],
    ['/cart;jsessionid=AB;v=2?x=1', '/cart;jsessionid=redacted;v=2?x=1'],
    ['?token%3Dabc%26x=1', '?token%3Dredacted%26x=1'],
    [`/verify/${JWT}`, '/verify/redacted'],
    [`https://shop.example/verify/${JWT}/now?x=1`, 'https://shop.example/verify/redacted/now?x=1'],
    [`/verify/${JWT}~WyJhIl0~;v=1`, '/verify/redacted;v=1'],
    [`/verify/eyJhbGciOiJub25lIn0.e30.`, '/verify/redacted'],
    [`shop.example/verify/${JWT}`, 'shop.example/verify/redacted'],
    [`#${JWT}`, '#redacted'],
    [`?${JWT}`, '?redacted'],
    [`https://shop.example/#/verify/${JWT}`, 'https://shop.example/#/verify/redacted'],
    [`/?auto=Bearer%20${JWT}`, '/?auto=Bearer%20redacted'],
    [`/login?next=%252Fverify%252F${JWT}`, '/login?next=%252Fverify%252Fredacted'],
    [`/verify/${JWT.replaceAll('.', '%2E')}/now`, '/verify/redacted/now'],
    [`/?j=${JWT.replaceAll('.', '%252e')}&x=1`, '/?j=redacted&x=1'],
    ['/avatars/ann@example.com.png', '/avatars/redacted'],
    ['/u/ann@163.com', '/u/redacted'],
    ['/u/ann@mail.example.js.org', '/u/redacted'],
    ['#ann@example.com', '#redacted'],
    ['/u/ann%40mail%2Eexample%2ecom/now', '/u/redacted/now'],
    ['/login?next=%252Fu%252Fann%252540example%25252Ecom%252Fnow', '/login?next=%252Fu%252Fredacted%252Fnow'],
    [
      '/?authorization=a&Authorisation=b&bearer=c&csrf=d&xsrfField=e&SAMLResponse=f',
      '/?authorization=redacted&Authorisation=redacted&bearer=redacted&csrf=redacted&xsrfField=redacted&SAMLResponse=redacted',
    ],
    ['/unsubscribe/ann%2540example.com/now', '/unsubscribe/redacted/now'],
    ['/login?next=%252Fu%252Fann%252540example.com%252Fnow', '/login?next=%252Fu%252Fredacted%252Fnow'],
    [
      '/login?next=%252Freset%253Ftoken%253Dabc%2526a%253D1&x=1',
      '/login?next=%252Freset%253Ftoken%253Dredacted%2526a%253D1&x=1',
    ],
    ['/login?next=%2Freset%3Ftoken%3Da%252526b%26n%3D%E4', '/login?next=%2Freset%3Ftoken%3Dredacted%26n%3D%E4'],
    ['/go/https%3A%2F%2Fshop.example%2Freset%3Ftoken=abc', '/go/https%3A%2F%2Fshop.example%2Freset%3Ftoken=redacted'],
    ['https%3A%2F%2Fshop.example%2Freset%3Ftoken%3Dabc', 'https%3A%2F%2Fshop.example%2Freset%3Ftoken%3Dredacted'],
    ['/?next=https%253A%252F%252Fann%253Ahunter2%2540shop.example', '/?next=https%253A%252F%252Fshop.example'],
    ['https://ann:hunter@2@shop.example/a', 'https://shop.example/a'],
    ['Refused: https://shop.example/?token=abc (403)', 'Refused: https://shop.example/?token=redacted (403)'],
  ])('%s', (url, expected) => {
    expect(cleaned(url)).toBe(expected);
  });
});

describe('does not change:', () => {
  it.each([
    'https://shop.example/shoes?utm_source=letter&utm_medium=email&gclid=abc&q=red+shoes%20&page=2#reviews',
    '/?authority=7&authors=ann&authored=1',
    '/?author=ann&keyword=monkey&postcode=1010&encode=1&design=x&state=on',
    '/?compass=north&passenger=2&bypass=1&passport=no&pwa=1&secretary=ann&pincode=1010&2fast=1',
    '/?q=a%26b%3Dc&next=%252Fshoes%253Fsize%253D40%2526colour%253Dred&rate=100%2525',
    '/images/eyJ3aWR0aCI6MX0.png',
    '/images/eyJ3aWR0aCI6MX0',
    '/dist/keyJson.bundle.min.js',
    '/images/logo@2x.png',
    '/npm/vue@latest.js',
    '/npm/vue@next.min.js?x=1',
    '/npm/react@18.umd.js',
    '/icons/icon@dark.svg',
    '/event%402024-05-01.ics',
    '/repo@v1.2.beta/x',
    '#reviews',
    '?',
    JWT,
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

const times = (count: number, text: string): string => (count ? times(count - 1, encodeURIComponent(text)) : text);

it('redacts secrets in a URL within a parameter or a path, however often it is encoded', () => {
  const secret = fc.string({ unit: fc.constantFrom(...'ab1%&#?;=/@ ü') }).map((text) => `hidden${text}hidden`);
  const name = fc.constantFrom('token', 'pass', 'X-Api-Key');
  const depth = fc.integer({ min: 0, max: 6 });
  const outer = fc.constantFrom('/login?next=', '/go/', '/a#to=', '/a;to=', '/a?x=%E4&to=');
  fc.assert(
    fc.property(secret, name, depth, outer, (value, key, count, before) => {
      const inner = `/reset?q=1&${key}=${encodeURIComponent(value)}&page=2`;
      expect(cleaned(`${before}${times(count, inner)}&last=1`)).toBe(
        `${before}${times(count, `/reset?q=1&${key}=redacted&page=2`)}&last=1`,
      );
    }),
  );
});

it('keeps URLs without secrets as they are', () => {
  const part = fc.string({ unit: fc.constantFrom(...'abx09%&#?;=/. ü') }).map(encodeURIComponent);
  fc.assert(
    fc.property(part, part, part, fc.integer({ min: 0, max: 4 }), (path, first, second, count) => {
      const url = `/${path}?q=${first}&next=${times(count, `/x?y=${second}`)}`;
      expect(cleaned(url)).toBe(url);
    }),
  );
});

it('accepts other names instead of its own, also as a global expression', () => {
  const own = redactUrls(/^invite/g);
  for (let i = 0; i < 3; i++)
    expect(own({ event: 'a', payload: '/?invite=1&token=2&inviteId=3' }).payload).toBe(
      '/?invite=redacted&token=2&inviteId=redacted',
    );
});

it.each([
  ...['?', '/?a=', 'a@', '//', '&a', '/?a=%3F', 'a.', '#', 'eyJ', '/?a;', '@a.', '?token=', ';token=', '%3Ftoken%3D'],
  ...['%', '%25', '%2525', `%${'25'.repeat(30)}`, '%3F', '%253Fa', '%253D', '%2F', '%2F%2F', '%40', 'a%2540', '%2Fa'],
  ...['eyJa.', '-eyJ', '.eyJ', '%2FeyJ', '/eyJa-', '@2x.', 'a%', '//a:', '&token%3Da%26', 'aB', '~'],
])('takes no more than in proportion for twenty times as many characters: %s', { tags: 'long' }, (part) => {
  const timeOf = (length: number) => {
    const text = part.repeat(length / part.length);
    // Processor time in ms, because other processes may run meanwhile.
    const begun = process.cpuUsage();
    cleaned({ url: `/${text}`, query: `/?token=${text}=`, after: `${text}/?`, text });
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / 1000;
  };
  let [short, long] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const factor = () => long / Math.max(short, 0.5);
  // The processor time includes that of the garbage collection, which one round may be full of.
  for (let round = 0; round < 3 || (round < 20 && factor() >= 200); round++) {
    short = Math.min(short, timeOf(5000));
    long = Math.min(long, timeOf(100_000));
  }
  // The factor is 20 if the time is proportional to the length, and 400 if it grows with its square. In Node, each character of a long text
  // takes longer than one of a short text.
  expect(factor()).toBeLessThan(200);
});
