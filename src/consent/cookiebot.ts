import type { Plugin } from '../api/types.js';
import { checkList, followConsent } from './follow.js';

/** Options of `cookiebot`. */
export interface CookiebotOptions {
  /**
   * The categories that the visitor has to accept.
   *
   * @default ['statistics']
   */
  categories?: readonly ('preferences' | 'statistics' | 'marketing')[] | undefined;
}

interface CookiebotPage {
  readonly Cookiebot?: {
    readonly hasResponse?: boolean;
    readonly consent?: Readonly<Record<string, unknown>>;
  };
}

/**
 * Creates a plugin that follows Cookiebot. Once the visitor has responded, all `categories` accepted are a yes, and anything else
 * is a no. https://www.cookiebot.com/en/developer
 *
 * @throws TypeError if `categories` is empty or no list
 * @example createTracker({ baseUrl: '/clew', consent: 'required', plugins: [cookiebot({ categories: ['statistics'] })] })
 */
export const cookiebot = ({ categories = ['statistics'] }: CookiebotOptions = {}): Plugin => {
  checkList('categories', categories);
  return followConsent((answer) => {
    const read = (event?: Event) => {
      const { hasResponse, consent } = (window as unknown as CookiebotPage).Cookiebot ?? {};
      if (hasResponse === true)
        answer(
          categories.every((category) => consent?.[category] === true),
          !!event,
        );
    };
    const listening = new AbortController();
    // At each load, and after each change.
    for (const type of ['CookiebotOnAccept', 'CookiebotOnDecline']) addEventListener(type, read, listening);
    read();
    return () => listening.abort();
  });
};
