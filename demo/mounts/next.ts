// In a project of yours: from 'clew/relay'.
import { createRelay, type RelayOptions } from '../../src/relay.ts';

/**
 * The exports of `app/clew/[...path]/route.ts` in Next.js. `next.config.ts` needs `skipTrailingSlashRedirect: true`, because
 * Next otherwise redirects `/clew/api/events/batch/`, and a tracker follows no redirects.
 * https://nextjs.org/docs/app/api-reference/config/next-config-js/trailingSlash
 *
 * Next is no dependency of this repository. The tests call these exports as Next calls a route handler.
 *
 * @example
 * const relay = createRelay({ baseUrl: process.env.BASE_URL, apiKey: process.env.API_KEY });
 * export const POST = relay;
 * export const OPTIONS = relay;
 */
export const createRoute = (options: RelayOptions) => {
  const relay = createRelay(options);
  return { relay, POST: relay, OPTIONS: relay };
};
