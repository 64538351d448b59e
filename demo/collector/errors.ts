import type { ErrorHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';

/** Every refusal is JSON with one sentence in `error`. */
export const answerError: ErrorHandler = (error, c) => {
  if (error instanceof HTTPException) return c.json({ error: error.message }, error.status);
  // A sender that aborts its request is no error of the collector.
  if (!c.req.raw.signal.aborted) console.error(error);
  return c.json({ error: 'internal error' }, 500);
};
