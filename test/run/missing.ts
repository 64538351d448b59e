import { missingAmong } from '../../e2e/support/browsers.ts';
import { hasRedis } from '../support/hasRedis.ts';

/** The tests that the run leaves out because this machine lacks a browser or Redis. */
export const listSkipped = (): string[] => {
  const skipped = [
    ...missingAmong(['chromium', 'firefox', 'webkit']).map((browser) => `all tests in ${browser}`),
    ...(hasRedis() ? [] : ['the tests of the broker and of `redisSeen` (no redis-server found)']),
  ];
  return skipped[0] ? skipped : ['nothing for want of a browser or Redis'];
};
