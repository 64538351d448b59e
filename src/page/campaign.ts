import type { PluginTools } from '../api/types.js';

/** `utm_source` and its like, and the click ids that advertisers append to links, with their values. */
const CAMPAIGN = /[?&](utm_\w+|(g|fb|d|tt|tw)clid|msclkid|[gw]braid|li_fat_id)=[^&#"]+/g;

/** Where the campaign is kept, with the visitor id. */
const KEY = 'visit';

/** What of an address, or of a stored text, names a campaign: part of a query. */
export const campaignIn = (text: string): string | undefined => text.match(CAMPAIGN)?.join('');

/**
 * Knows which campaign has brought the visitor. It is kept for the visit, which is the tab's and this visitor id's; where
 * sessionStorage is refused, for the page's life.
 *
 * @param allowed resolves to the visitor id when something may be written
 * @returns `notice` looks for a campaign in an address; `take` gives its parameters if that has not been done yet, or with
 * `isWanted` always
 */
export const createCampaign = (
  allowed: () => Promise<string>,
  { visitorId, session }: Pick<PluginTools, 'visitorId' | 'session'>,
) => {
  const [stored, owner] = [session.get(KEY) ?? []].flat();
  /** The campaign that was noticed last. The address may still have it when the visitor is another one. */
  let last = typeof stored === 'string' ? campaignIn(stored) : undefined;
  let kept = last;
  /** The visitor id of `kept`, once it is stored. */
  let by = owner;
  let isNew = false;
  const notice = (url: string): void => {
    const found = campaignIn(url);
    if (!found || found === last) return;
    last = kept = found;
    by = undefined;
    isNew = true;
    // The page may leave before the visitor is certain.
    session.set(KEY, [kept, visitorId()]);
    const forget = () => {
      kept = undefined;
    };
    allowed().then((id) => {
      // The visitor may have refused since.
      if (visitorId() !== id) return forget();
      by = id;
      session.set(KEY, [kept, by]);
    }, forget);
  };
  const take = (isWanted?: boolean): Record<string, string> => {
    const id = visitorId();
    if (id && by && id !== by) kept = undefined;
    const taken = isNew || isWanted ? kept : '';
    isNew = false;
    return Object.fromEntries(new URLSearchParams(taken));
  };
  return [notice, take] as const;
};
