import type { Tracker } from '../api/types.js';

/** The parameter that `linkDomains` adds to a link: a visitor id, the time (s, base 36), and 1 if it is identified. */
export const LINK_PARAMETER = /([?&])clew_link=([^&#]*)(&?)/;

/** The value of that parameter in an address, if it has one. */
export const linkIn = (url: string): string | undefined => LINK_PARAMETER.exec(url)?.[2];

/** An address without that parameter. */
export const withoutLink = (url: string): string =>
  url.replace(LINK_PARAMETER, (_all, before, _value, after) => after && before);

/** The referrer of a view: the URL of the last view, or the document's referrer. Both lack the parameter of `linkDomains`. */
export const referrerAfter = (before: string | undefined): string => before ?? withoutLink(document.referrer || '');

/**
 * Calls `forget` when the tracker drops events because the visitor has refused: a view from then is no referrer of a later one.
 * Returns a function that stops that.
 */
export const watchRefusals = ({ on }: Pick<Tracker, 'on'>, forget: () => void): (() => void) =>
  on('dropped', ({ reason }) => {
    if (reason === 'consent') forget();
  });
