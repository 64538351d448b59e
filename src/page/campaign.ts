import { carried, carry, VISIT } from './carryOver.js';

/** `utm_source` and its like, and the click ids that advertisers append to links; with what they are. */
const CAMPAIGN = /[?&](utm_\w+|(g|fb|d|tt|tw)clid|msclkid|[gw]braid|li_fat_id)=[^&#"]+/g;

/** What of an address, or of a stored text, names a campaign: part of a query. */
const campaignIn = (text?: string): string => text?.match(CAMPAIGN)?.join('') ?? '';

/**
 * Knows which campaign has brought the visitor. It is kept for the visit, which is the tab's; where sessionStorage is
 * refused, for the page's life.
 *
 * @param allowed resolves when something may be written
 * @returns gives a view's parameters of the campaign if the campaign is new, or with `isWanted` those that are kept
 */
export const createCampaign = (allowed: () => Promise<unknown>) => {
  let kept = campaignIn(JSON.stringify(carried(VISIT)));
  return (url: string, isWanted?: boolean): Record<string, string> => {
    const found = campaignIn(url);
    const isNew = found && found !== kept;
    if (isNew) {
      kept = found;
      allowed().then(() => carry(VISIT, kept));
    }
    return isNew || isWanted ? Object.fromEntries(new URLSearchParams(kept)) : {};
  };
};
