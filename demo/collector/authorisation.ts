import { createHash, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';

const SCHEME = 'Api-Key ';

/** Lets only requests with exactly `Authorization: Api-Key <key>` through. */
export function requireKey(apiKey: string): MiddlewareHandler {
  const expected = digest(SCHEME + apiKey);
  return async (c, next) => {
    const header = c.req.header('authorization');
    if (!timingSafeEqual(digest(header ?? ''), expected)) throw new HTTPException(401, { message: reason(header) });
    await next();
  };
}

/** Digests all have one length, which `timingSafeEqual` requires. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

function reason(header: string | undefined): string {
  if (header === undefined) return 'the Authorization header is missing: expected "Api-Key <key>"';
  return header.startsWith(SCHEME) ? 'unknown API key' : 'unknown authorisation scheme: expected "Api-Key <key>"';
}
