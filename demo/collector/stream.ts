import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { Changes } from './changes.ts';
import type { Counts } from './listings.ts';

export interface StreamOptions {
  changes: Changes;
  count: () => Promise<Counts>;
  /** Ends every stream: a server cannot close while one is open. */
  closing: AbortSignal;
  /** Milliseconds between two comments that keep the connection alive. */
  heartbeat: number;
}

/** Milliseconds between two events `changed`. The next one includes all changes in between. */
const GAP = 200;

/** Server-sent events: `changed` with the counts, at once and then soon after each change. */
export function streamChanges(c: Context, { changes, count, closing, heartbeat }: StreamOptions): Response {
  const response = streamSSE(c, async (stream) => {
    let isNews = true;
    let isIdle = false;
    let wake = () => {};
    const rest = (ms: number) =>
      new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    const isOver = () => stream.aborted || closing.aborted;
    const end = () => wake();
    stream.onAbort(end);
    closing.addEventListener('abort', end);
    const off = changes.on(() => {
      isNews = true;
      if (isIdle) wake();
    });

    while (!isOver()) {
      if (isNews) {
        isNews = false;
        await stream.writeSSE({ event: 'changed', data: JSON.stringify(await count()) });
        if (!isOver()) await rest(GAP);
      } else {
        isIdle = true;
        await rest(heartbeat);
        isIdle = false;
        if (!isNews && !isOver()) await stream.write(': still here\n\n');
      }
    }
    off();
    closing.removeEventListener('abort', end);
  });
  // The server could not close while the connection of an ended stream is kept alive.
  response.headers.set('Connection', 'close');
  return response;
}
