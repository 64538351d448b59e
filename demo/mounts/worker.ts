// In a project of yours: from 'clew/relay'.
import { createRelay, type Relay, type RelayOptions } from '../../src/relay.ts';

/** What a worker's runtime hands to `fetch` besides the request. */
export interface WorkerContext {
  waitUntil(promise: Promise<unknown>): void;
}

/**
 * A worker: `export default createWorker();`, with the options as its variables and secrets. They come with the first
 * request, so the relay is made then. One isolate knows nothing of another: where repeats matter, give `seen` a store
 * they share. The tests call it on Node, as a worker's runtime would.
 */
export const createWorker = () => {
  let relay: Relay | undefined;
  return {
    fetch(request: Request, env: RelayOptions, context: WorkerContext): Promise<Response> {
      relay ??= createRelay(env);
      const answer = relay(request);
      // A page that leaves reads no answer, but the relay still has to forward what it handed over.
      context.waitUntil(answer);
      return answer;
    },
  };
};
