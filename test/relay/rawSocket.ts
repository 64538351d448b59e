import { once } from 'node:events';
import { connect } from 'node:net';
import type { RawRequest } from './rawRequests.ts';

/** An answer as a client of HTTP reads it. */
export interface RawAnswer {
  readonly status: number;
  /** By lower-case names. A name that occurs twice has both values. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

const unchunk = (text: string): [body: string, rest: string] | undefined => {
  let body = '';
  for (let rest = text; ; ) {
    const [line, size] = /^([\da-f]+)\r\n/i.exec(rest) ?? [];
    if (line === undefined) return undefined;
    const length = Number.parseInt(size ?? '', 16);
    const end = line.length + length;
    if (rest.slice(end, end + 2) !== '\r\n') return undefined;
    body += rest.slice(line.length, end);
    rest = rest.slice(end + 2);
    if (length === 0) return [body, rest];
  }
};

const headersOf = (lines: readonly string[]): Map<string, string> => {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name = '', value = ''] = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/.exec(line) ?? [];
    if (!name) throw Error(`no header: ${JSON.stringify(line)}`);
    const before = headers.get(name.toLowerCase());
    headers.set(name.toLowerCase(), before === undefined ? value : `${before}, ${value}`);
  }
  return headers;
};

/** The first answer in the bytes that were read, and the rest. Undefined until the answer is whole. */
export const parseAnswer = (text: string, method: string): [RawAnswer, rest: string] | undefined => {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [start = '', ...lines] = text.slice(0, end).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) [\x20-\x7e]*$/.exec(start)?.[1]);
  if (!status) throw Error(`no status line: ${JSON.stringify(start)}`);
  const rest = text.slice(end + 4);
  if (status < 200) return parseAnswer(rest, method);
  const headers = headersOf(lines);
  const whole = (body: string, after: string): [RawAnswer, string] => [{ status, headers, body }, after];
  if (method === 'HEAD' || status === 204) return whole('', rest);
  if (headers.get('transfer-encoding') === 'chunked') {
    const found = unchunk(rest);
    return found && whole(...found);
  }
  const length = Number(headers.get('content-length') ?? 0);
  return rest.length < length ? undefined : whole(rest.slice(0, length), rest.slice(length));
};

/** Sends the pieces. Resolves to the bytes that came back until there is an answer, or for a last request until the end. */
export const exchange = async (port: number, { pieces, method, isUnfinished, isLast }: RawRequest): Promise<string> => {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let text = '';
  // The server may reset the connection of a request that it does not read.
  socket.on('error', () => {});
  await once(socket, 'connect');
  const ended = new Promise<void>((resolve) => {
    socket.once('close', resolve);
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      if (!isLast && parseAnswer(text, method)) resolve();
    });
  });
  for (const piece of pieces) {
    if (piece.length === 0) continue;
    // A write that the system has taken is a segment of its own.
    await new Promise<void>((resolve) => socket.write(piece, () => resolve()));
  }
  if (isUnfinished) socket.end();
  await ended;
  socket.destroy();
  return text;
};
