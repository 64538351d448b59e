// In a project of yours: from 'clew/relay'.
import { createRelay, type RelayOptions } from '../../src/relay.ts';

/**
 * The exports of `app/clew/[...path]/route.ts` in Next.js. `next.config.ts` needs `skipTrailingSlashRedirect: true`, because Next
 * otherwise redirects `/clew/api/events/batch/`, and a tracker follows no redirects. `next build` refuses the relay itself as a
 * handler, because Next passes another second argument. `next build` also imports the file, when the variables may be missing.
 * https://nextjs.org/docs/app/api-reference/config/next-config-js/trailingSlash
 *
 * Next is no dependency of this repository. The tests call these exports as Next calls a route handler.
 *
 * @example
 * let relay: Relay | undefined;
 * const handle = (request: Request) => {
 *   relay ??= createRelay({ baseUrl: process.env.BASE_URL, apiKey: process.env.API_KEY });
 *   return relay(request);
 * };
 * export { handle as OPTIONS, handle as POST };
 */
export const createRoute = (options: RelayOptions) => {
  const relay = createRelay(options);
  const handle = (request: Request) => relay(request);
  return { relay, POST: handle, OPTIONS: handle };
};
