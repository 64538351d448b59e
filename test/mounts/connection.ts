import { once } from 'node:events';
import { createConnection } from 'node:net';

/** An answer as the socket received it. */
export interface RawReply {
  status: number;
  /** Lower-case names. */
  headers: Record<string, string>;
  text: string;
}

/** One keep-alive connection over which requests are written byte by byte. */
export const openConnection = async (url: string) => {
  const { hostname, port } = new URL(url);
  const socket = createConnection(Number(port), hostname);
  await once(socket, 'connect');
  // Some tests wait for a reset, which closes the connection, too.
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const chunks = socket.iterator({ destroyOnReturn: false });
  let came = '';

  const readMore = async (): Promise<void> => {
    const { done, value } = await chunks.next();
    if (done) throw new Error(`the connection ended after: ${came}`);
    came += (value as Buffer).toString('latin1');
  };
  const readUpTo = async (mark: string): Promise<string> => {
    while (!came.includes(mark)) await readMore();
    const length = came.indexOf(mark) + mark.length;
    const part = came.slice(0, length);
    came = came.slice(length);
    return part.slice(0, -mark.length);
  };
  const readBytes = async (length: number): Promise<string> => {
    while (came.length < length) await readMore();
    const part = came.slice(0, length);
    came = came.slice(length);
    return part;
  };
  const readChunks = async (): Promise<string> => {
    const length = Number.parseInt(await readUpTo('\r\n'), 16);
    const chunk = await readBytes(length);
    await readUpTo('\r\n');
    return length ? chunk + (await readChunks()) : '';
  };

  return {
    socket,
    /** Resolves when the other end has closed or reset the connection, and discards the data before that. */
    async closed(): Promise<void> {
      // A reset is not a failure here.
      await (async () => {
        while (!(await chunks.next()).done);
      })().catch(() => {});
      await closed;
    },
    write: (text: string | Uint8Array) => socket.write(text),
    /** Sends a body with its length. `headers` may replace that length. */
    post(path: string, body: string | Uint8Array, headers: Record<string, string> = {}): void {
      const fields = { Host: 'a.example', 'Content-Type': 'application/json', ...headers };
      const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`POST ${path} HTTP/1.1\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${head.join('')}\r\n`);
      socket.write(body);
    },
    /** Reads the next answer. An answer to HEAD has no body, whatever its headers state. */
    async reply(method = 'POST'): Promise<RawReply> {
      const [line = '', ...fields] = (await readUpTo('\r\n\r\n')).split('\r\n');
      const headers = Object.fromEntries(
        fields.map((field) => [field.split(':')[0]?.toLowerCase(), field.slice(field.indexOf(':') + 1).trim()]),
      );
      const isChunked = headers['transfer-encoding'] === 'chunked';
      const length = method === 'HEAD' ? 0 : Number(headers['content-length'] ?? 0);
      const text = isChunked && method !== 'HEAD' ? await readChunks() : await readBytes(length);
      return { status: Number(line.split(' ')[1]), headers, text: Buffer.from(text, 'latin1').toString() };
    },
  };
};
