import type { Page } from '@playwright/test';
import type { Site } from '../faults/support/site.ts';

/** Requests with an event that an earlier request had. The server lists them, because a driver does not report all beacons. */
export const repeatsIn = ({ requests }: Site): readonly string[][] => {
  const sent = new Set<string>();
  return requests.flatMap(({ uuids }) => {
    const repeated = uuids.filter((uuid) => sent.has(uuid));
    for (const uuid of uuids) sent.add(uuid);
    return repeated[0] === undefined ? [] : [repeated];
  });
};

/** The notes of handovers about which the origin's pages still have to ask the relay. */
export const marksIn = (page: Page): Promise<string[]> =>
  page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('clew.handed ')));
