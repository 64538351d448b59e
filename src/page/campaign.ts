import { carried, carry, VISIT } from '../outbox/carryOver.js';

/** `utm_source` and its like, and the click ids that advertisers append to links, with their values. */
const CAMPAIGN = /[?&](utm_\w+|(g|fb|d|tt|tw)clid|msclkid|[gw]braid|li_fat_id)=[^&#"]+/g;

/** What of an address, or of a stored text, names a campaign: part of a query. */
const campaignIn = (text?: string): string | undefined => text?.match(CAMPAIGN)?.join('');

/**
 * Knows which campaign has brought the visitor. It is kept for the visit, which is the tab's; where sessionStorage is
 * refused, for the page's life.
 *
 * @param allowed resolves when something may be written
 * @returns `notice` looks for a campaign in an address; `take` gives its parameters if that has not been done yet, or with
 * `isWanted` always
 */
export const createCampaign = (allowed: () => Promise<unknown>) => {
  let kept = campaignIn(JSON.stringify(carried(VISIT)));
  let isNew = false;
  const notice = (url: string): void => {
    const found = campaignIn(url);
    if (!found || found === kept) return;
    kept = found;
    isNew = true;
    // After a refusal nothing is written.
    allowed().then(
      () => carry(VISIT, kept),
      () => {},
    );
  };
  const take = (isWanted?: boolean): Record<string, string> => {
    const taken = isNew || isWanted ? kept : '';
    isNew = false;
    return Object.fromEntries(new URLSearchParams(taken));
  };
  return [notice, take] as const;
};
