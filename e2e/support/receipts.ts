import type { Page } from '@playwright/test';
import type { Site } from '../faults/support/site.ts';

/** Requests with an event that an earlier one had, as the server has seen them: a driver does not report all beacons. */
export const repeatsIn = ({ requests }: Site): readonly string[][] => {
  const sent = new Set<string>();
  return requests.flatMap(({ uuids }) => {
    const repeated = uuids.filter((uuid) => sent.has(uuid));
    for (const uuid of uuids) sent.add(uuid);
    return repeated[0] === undefined ? [] : [repeated];
  });
};

/** What the pages of the origin still have to ask about. */
export const marksIn = (page: Page): Promise<string[]> =>
  page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('clew.handed ')));
