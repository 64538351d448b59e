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

/** What a browser says of itself: no more than it tells every site unasked. No interface, which would be no record of properties. */
export type BrowserContext = {
  /** The visitor's first language: a BCP 47 tag, 'de-AT'. */
  language: string;
  /** An IANA name: 'Europe/Vienna'. */
  timeZone: string;
  /** In CSS pixels, like the viewport. */
  screen: { width: number; height: number };
  viewport: { width: number; height: number };
  /** Client hints of low entropy, where there are any: https://wicg.github.io/ua-client-hints/#low-entropy-table */
  userAgent: { brands: { brand: string; version: string }[]; mobile: boolean; platform: string } | undefined;
};

/** For the option `context`: language, time zone, sizes and user agent, as they are in the call. */
export const browserContext = (): BrowserContext => ({
  language: navigator.language,
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  screen: { width: screen.width, height: screen.height },
  viewport: { width: innerWidth, height: innerHeight },
  userAgent: (navigator as { userAgentData?: { toJSON(): BrowserContext['userAgent'] } }).userAgentData?.toJSON(),
});
