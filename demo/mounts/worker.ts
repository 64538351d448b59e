// In a project of yours: from 'clew/relay'.
import { createRelay, type Relay } from '../../src/relay.ts';

/** The context that a worker's runtime passes to `fetch`. */
export interface WorkerContext {
  waitUntil(promise: Promise<unknown>): void;
}

/** The worker's variables and secrets. A worker may have others. */
export interface WorkerVariables {
  BASE_URL: string;
  API_KEY: string;
  IDENTITY_SECRET: string;
  /** Origins, separated by commas. */
  ALLOWED_ORIGINS: string;
}

/**
 * A worker: `export default createWorker();`. The variables come with the first request, so the relay is created then. Isolates
 * share no memory. If duplicates matter, give `seen` a store that all isolates share. The tests call it on Node, as a worker's
 * runtime would.
 */
export const createWorker = () => {
  let relay: Relay | undefined;
  return {
    fetch(request: Request, env: WorkerVariables, context: WorkerContext): Promise<Response> {
      relay ??= createRelay({
        baseUrl: env.BASE_URL,
        apiKey: env.API_KEY,
        identitySecret: env.IDENTITY_SECRET,
        allowedOrigins: env.ALLOWED_ORIGINS.split(','),
      });
      const answer = relay(request);
      // A page that leaves reads no answer, but the relay still has to forward the events that it handed over.
      context.waitUntil(answer);
      return answer;
    },
  };
};
