import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { HTTPException } from 'hono/http-exception';
import type { Checked } from './validation.ts';

/** Bytes of a body, after inflation. */
export const MAX_BODY = 102_400;
/** Gzip adds this little, at most, to a body it cannot make smaller. */
const GZIP_OVERHEAD = 1_024;

const inflate = promisify(gunzip);
const tooLarge = () => new HTTPException(413, { message: `the body is larger than ${MAX_BODY} bytes` });

/** Bounds what comes over the wire, with or without a Content-Length; `readBody` bounds what it inflates to. */
export const limitBody = (): MiddlewareHandler =>
  bodyLimit({
    maxSize: MAX_BODY + GZIP_OVERHEAD,
    onError: () => {
      throw tooLarge();
    },
  });

/**
 * The request's JSON, once it has passed `check`.
 *
 * @throws {HTTPException} 400, 413 or 415
 */
export async function readBody<T>(c: Context, check: (body: unknown) => Checked<T>): Promise<T> {
  const checked = check(await readJson(c));
  if ('error' in checked) throw new HTTPException(400, { message: checked.error });
  return checked.value;
}

async function readJson(c: Context): Promise<unknown> {
  const type = c.req.header('content-type');
  if (type?.split(';')[0]?.trim().toLowerCase() !== 'application/json') {
    throw new HTTPException(415, { message: `Content-Type: expected application/json, received ${type ?? 'nothing'}` });
  }
  const encoding = c.req.header('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity' && encoding !== 'gzip') {
    throw new HTTPException(415, { message: `Content-Encoding: expected gzip or none, received ${encoding}` });
  }
  const sent = await c.req.arrayBuffer();
  const bytes = encoding === 'gzip' ? await unzip(sent) : sent;
  if (bytes.byteLength > MAX_BODY) throw tooLarge();
  return parse(bytes);
}

async function unzip(bytes: ArrayBuffer): Promise<Uint8Array> {
  try {
    return await inflate(bytes, { maxOutputLength: MAX_BODY });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
    throw new HTTPException(400, { message: 'the body is not valid gzip' });
  }
}

function parse(bytes: ArrayBuffer | Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    const reason =
      bytes.byteLength === 0 ? 'the body is empty' : error instanceof Error ? error.message : String(error);
    throw new HTTPException(400, { message: `malformed JSON: ${reason}` });
  }
}
