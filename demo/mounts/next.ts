// In a project of yours: from 'clew/relay'.
import { createRelay, type RelayOptions } from '../../src/relay.ts';

/**
 * Next.js: what `app/clew/[...path]/route.ts` exports,
 *
 *     let relay: Relay | undefined;
 *     const handle = (request: Request) => {
 *       relay ??= createRelay({ baseUrl: process.env.BASE_URL, apiKey: process.env.API_KEY });
 *       return relay(request);
 *     };
 *     export { handle as OPTIONS, handle as POST };
 *
 * and `next.config.ts` needs `skipTrailingSlashRedirect: true`: Next redirects `/clew/api/events/batch/` otherwise, and a
 * tracker follows no redirects.
 * `next build` refuses the relay itself as a handler, because Next passes another second argument. It imports the file, where the
 * variables may be missing.
 * https://nextjs.org/docs/app/api-reference/config/next-config-js/trailingSlash
 *
 * Next is no dependency of this repository: the tests call these exports as a route handler is called, by another server.
 */
export const createRoute = (options: RelayOptions) => {
  const relay = createRelay(options);
  const handle = (request: Request) => relay(request);
  return { relay, POST: handle, OPTIONS: handle };
};
