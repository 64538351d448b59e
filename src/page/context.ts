/** What a page view says of the page. */
export interface PageContext {
  url: string;
  path: string;
  title: string;
  /** The page the visitor came from, '' when there is none or it is not told. */
  referrer: string;
}

export const pageContext = (): PageContext => ({
  url: location.href,
  path: location.pathname,
  title: document.title,
  referrer: document.referrer,
});
