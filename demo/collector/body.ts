import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { Checked } from './validation.ts';

/** Most bytes of a body, after inflation. */
export const MAX_BODY = 102_400;
/** Gzip adds this little, at most, to a body it cannot make smaller. */
const GZIP_OVERHEAD = 1_024;

/** Most bytes that are read of a body that is too large. A sender reads the answer only once its body has been read. */
const MAX_DISCARDED = 8_388_608;

const inflate = promisify(gunzip);
const tooLarge = () => new HTTPException(413, { message: `the body is larger than ${MAX_BODY} bytes` });

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
  const sent = await readBytes(c, MAX_BODY + GZIP_OVERHEAD);
  const bytes = encoding === 'gzip' ? await unzip(sent) : sent;
  if (bytes.byteLength > MAX_BODY) throw tooLarge();
  return parse(bytes);
}

/** Replaces `hono/body-limit`, which leaves a body half read. The server then breaks the connection during the next request. */
async function readBytes(c: Context, limit: number): Promise<ArrayBuffer | Uint8Array> {
  const declared = c.req.header('content-length');
  if (declared !== undefined) {
    if (Number(declared) > limit) throw tooLarge();
    return c.req.arrayBuffer();
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = c.req.raw.body?.getReader();
  for (let read = await reader?.read(); read?.value; read = await reader?.read()) {
    size += read.value.byteLength;
    if (size <= limit) chunks.push(read.value);
    else if (size > MAX_DISCARDED) {
      c.header('Connection', 'close');
      break;
    }
  }
  if (size > limit) throw tooLarge();
  return Buffer.concat(chunks);
}

async function unzip(bytes: ArrayBuffer | Uint8Array): Promise<Uint8Array> {
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
