// In a project of yours: from 'clew/relay'.
import { createRelay, type Relay } from '../../src/relay.ts';

/** What a worker's runtime hands to `fetch` besides the request. */
export interface WorkerContext {
  waitUntil(promise: Promise<unknown>): void;
}

/** The worker's variables and secrets. It may have others. */
export interface WorkerVariables {
  BASE_URL: string;
  API_KEY: string;
  IDENTITY_SECRET: string;
  /** With commas between them. */
  ALLOWED_ORIGINS: string;
}

/**
 * A worker: `export default createWorker();`. Its variables come with the first request, so the relay is made then. One isolate knows nothing of another: where repeats matter, give `seen` a store
 * they share. The tests call it on Node, as a worker's runtime would.
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
      // A page that leaves reads no answer, but the relay still has to forward what it handed over.
      context.waitUntil(answer);
      return answer;
    },
  };
};
