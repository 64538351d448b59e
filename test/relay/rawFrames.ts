import { gzipSync } from 'node:zlib';

/** A header and a body in that encoding, or not in it. */
export const encode: Readonly<Record<string, (bytes: Buffer) => [header: string, bytes: Buffer]>> = {
  none: (bytes) => ['', bytes],
  identity: (bytes) => ['content-ENCODING: identity\r\n', bytes],
  gzip: (bytes) => ['Content-Encoding: gzip\r\n', gzipSync(bytes)],
  GZIP: (bytes) => ['CONTENT-ENCODING: GZIP\r\n', gzipSync(bytes)],
  truncated: (bytes) => ['Content-Encoding: gzip\r\n', gzipSync(bytes).subarray(0, -9)],
  lying: (bytes) => ['Content-Encoding: gzip\r\n', bytes],
  silent: (bytes) => ['', gzipSync(bytes)],
  unknown: (bytes) => ['Content-Encoding: br\r\n', bytes],
  twice: (bytes) => ['Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n', gzipSync(gzipSync(bytes))],
};

/** Cuts bytes at these places. */
export const split = (bytes: Buffer, cuts: readonly number[]): Buffer[] => {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, n) => bytes.subarray(places[n], end));
};
const chunked = (bytes: Buffer, cuts: readonly number[]): Buffer =>
  Buffer.concat(
    split(bytes, cuts)
      .filter(({ length }) => length)
      .flatMap((part, n) => [
        Buffer.from(`${part.length.toString(16)}${n % 2 ? ';a=b' : ''}\r\n`),
        part,
        Buffer.from('\r\n'),
      ]),
  );
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const lengthOf = (length: number) => `Content-Length: ${length}\r\n`;

/** Puts a body behind the headers that describe its length. */
export type Frame = (bytes: Buffer, cuts: readonly number[]) => [header: string, bytes: Buffer];
/** Node passes the whole body on. */
export const goodFrames: Readonly<Record<string, Frame>> = {
  length: (bytes) => [lengthOf(bytes.length), bytes],
  chunked: (bytes, cuts) => [CHUNKED, Buffer.concat([chunked(bytes, cuts), LAST_CHUNK])],
  trailer: (bytes, cuts) => [CHUNKED, Buffer.concat([chunked(bytes, cuts), Buffer.from('0\r\nX-Last: 1\r\n\r\n')])],
};
/** The body ends before its announced end. */
export const unfinishedFrames: Readonly<Record<string, Frame>> = {
  tooLong: (bytes) => [lengthOf(bytes.length + 7), bytes],
  noLastChunk: (bytes, cuts) => [CHUNKED, chunked(bytes, cuts)],
};
/** Node refuses these, or reads another length. */
export const badFrames: Readonly<Record<string, Frame>> = {
  tooShort: (bytes) => [lengthOf(Math.max(bytes.length - 7, 0)), bytes],
  both: (bytes, cuts) => [lengthOf(bytes.length) + CHUNKED, Buffer.concat([chunked(bytes, cuts), LAST_CHUNK])],
  twoLengths: (bytes) => [lengthOf(bytes.length) + lengthOf(bytes.length + 1), bytes],
  negative: (bytes) => ['Content-Length: -1\r\n', bytes],
  noNumber: (bytes) => [CHUNKED, Buffer.concat([Buffer.from('zz\r\n'), bytes])],
  wrongChunk: (bytes) => [CHUNKED, Buffer.concat([Buffer.from('3\r\n'), bytes, LAST_CHUNK])],
  none: (bytes) => ['', bytes],
  unknown: (bytes) => ['Transfer-Encoding: gzip\r\n', bytes],
};
