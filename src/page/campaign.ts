import type { PluginTools } from '../api/types.js';

/** `utm_source` and its like, and the click ids that advertisers append to links, with their values. */
const CAMPAIGN = /[?&](utm_\w+|(g|fb|d|tt|tw)clid|msclkid|[gw]braid|li_fat_id)=[^&#"]+/g;

/** Where the campaign is kept, with the visitor id. */
const KEY = 'visit';

/** The part of a query that names a campaign, in an address or in a stored text. A hash may have a query, too. */
export const campaignIn = (text: string): string | undefined => {
  const found = text.match(CAMPAIGN)?.map((part) => part.slice(1));
  return found && `?${found.join('&')}`;
};

/**
 * Knows which campaign has brought the visitor, and keeps the campaign for this tab and this visitor id. If the browser refuses
 * sessionStorage, the campaign is kept for the page's life.
 *
 * @param allowed resolves to the visitor id when something may be written
 * @returns `notice` looks for a campaign in an address. `take` returns its parameters once. With `isWanted`, it returns them
 * always.
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
