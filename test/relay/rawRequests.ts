import fc from 'fast-check';
import { anyBody, batchText, goodEvents, mixedEvents } from './arbitraries.ts';
import { badFrames, encode, goodFrames, split, unfinishedFrames } from './rawFrames.ts';
import { BATCH, event, SINGLE, UPSERT } from './stage.ts';

/** A request as bytes. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  /** The parts of the request, each for a write of its own. */
  readonly pieces: readonly Buffer[];
  /** The body before its encoding. */
  readonly body: Buffer;
  /** Whether Node's parser passes the whole request to the relay, so that the relay has to answer. */
  readonly isWellFormed: boolean;
  /** Whether the request is incomplete, so that the server waits for the rest. */
  readonly isUnfinished: boolean;
  /** Whether the request asks the server to close the connection. */
  readonly isLast: boolean;
}

const bytesOf = (body: string | Uint8Array): Buffer => Buffer.from(body as string);
const LARGE = () => JSON.stringify({ batch: [event('large', { payload: 'x'.repeat(150_000) })] });
const body: fc.Arbitrary<Buffer> = fc.oneof(
  { arbitrary: goodEvents.map(batchText).map(bytesOf), weight: 4 },
  { arbitrary: mixedEvents.map(batchText).map(bytesOf), weight: 3 },
  { arbitrary: anyBody.map(bytesOf), weight: 3 },
  fc.tuple(goodEvents.map(batchText), fc.nat(), fc.integer({ min: 0x80, max: 0xff })).map(([text, at, byte]) => {
    const bytes = bytesOf(text);
    bytes[at % bytes.length] = byte;
    return bytes;
  }),
  fc.nat(3).map(() => bytesOf(LARGE())),
);

const goodHeaders = [
  'Origin: https://www.example.com',
  'oRIGIN: null',
  'ORIGIN: https://evil.example',
  'X-Odd: \xe9\x80\xff',
  '__proto__: x',
  'constructor: y',
  'Cookie: clew=%7B%22; clew=%zz',
  `X-Forwarded-For: ${'1.2.3.4, '.repeat(200)}`,
  'Expect: 100-continue',
  'Content-Type: text/html',
  'clew-relay: 1',
  'Authorization: Api-Key mine',
];
const badHeaders = [
  'X-Null: a\0b',
  'X-Control: a\x01b\x7f',
  'X Space: 1',
  ': nameless',
  'no colon',
  'X-Fold: a\r\n b',
  `X-Huge: ${'x'.repeat(20_000)}`,
  'Host: evil.example',
  'Expect: tea',
  'X-Bare: a\rb',
];
const HOSTS = ['x', '127.0.0.1', '[::1]:80', 'a b', '%', '', 'evil.example@x', 'x:99999'];
const PATHS = [
  BATCH,
  BATCH,
  BATCH,
  BATCH,
  SINGLE,
  UPSERT,
  `http://x${BATCH}`,
  `//${BATCH}?a=%`,
  '/',
  '/\\..%00',
  '/%zz#',
];

export const rawRequest: fc.Arbitrary<RawRequest> = fc
  .record({
    method: fc.oneof(
      { arbitrary: fc.constant('POST'), weight: 14 },
      fc.constantFrom('GET', 'HEAD', 'PUT', 'OPTIONS', 'DELETE', 'BREW'),
    ),
    path: fc.constantFrom(...PATHS),
    host: fc.constantFrom(...HOSTS),
    type: fc.oneof(
      { arbitrary: fc.constantFrom('application/json', 'text/plain;charset=UTF-8'), weight: 6 },
      fc.constantFrom('APPLICATION/json ;charset=x', 'text/html'),
    ),
    body,
    encoding: fc.oneof(
      { arbitrary: fc.constantFrom('none', 'gzip'), weight: 3 },
      fc.constantFrom(...Object.keys(encode)),
    ),
    frame: fc.oneof(
      { arbitrary: fc.constantFrom(...Object.entries(goodFrames)), weight: 8 },
      { arbitrary: fc.constantFrom(...Object.entries(unfinishedFrames)), weight: 1 },
      { arbitrary: fc.constantFrom(...Object.entries(badFrames)), weight: 2 },
    ),
    cuts: fc.array(fc.nat(200_000), { maxLength: 6 }),
    odd: fc.subarray(goodHeaders, { maxLength: 2 }),
    broken: fc.oneof(
      { arbitrary: fc.constant([]), weight: 9 },
      fc.subarray(badHeaders, { minLength: 1, maxLength: 1 }),
    ),
    isFirst: fc.boolean(),
    isLast: fc.boolean(),
  })
  .map(
    ({ method, path, host, type, body: plain, encoding, frame: [name, frame], cuts, odd, broken, isFirst, isLast }) => {
      const [encodingLines, encoded] = encode[encoding]?.(plain) ?? ['', plain];
      const [frameLines, framed] = frame(encoded, cuts);
      const known = `Host: ${host}\r\nContent-Type: ${type}\r\n${encodingLines}${frameLines}${isLast ? 'connection: Close\r\n' : ''}`;
      const more = [...odd, ...broken].map((line) => `${line}\r\n`).join('');
      const head = `${method} ${path} HTTP/1.1\r\n${isFirst ? more + known : known + more}\r\n`;
      return {
        method,
        path,
        body: plain,
        pieces: split(Buffer.concat([Buffer.from(head, 'latin1'), framed]), cuts),
        isWellFormed: broken.length === 0 && method !== 'BREW' && name in goodFrames,
        isUnfinished: name in unfinishedFrames,
        isLast,
      };
    },
  );
