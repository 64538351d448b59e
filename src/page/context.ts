/** Properties of a page view. */
export interface PageContext {
  url: string;
  path: string;
  title: string;
  /** The URL of the previous page, or '' if there is none or the browser withholds it. */
  referrer: string;
}

export const pageContext = (): PageContext => ({
  url: location.href,
  path: location.pathname,
  title: document.title,
  referrer: document.referrer,
});

/** Properties of the browser and its window. */
export interface BrowserContext {
  /** The visitor's first language: a BCP 47 tag, 'de-AT'. */
  language: string;
  /** An IANA name: 'Europe/Vienna'. */
  timeZone: string;
  /** In CSS pixels, like the viewport. */
  screen: { width: number; height: number };
  viewport: { width: number; height: number };
  /** Client hints of low entropy, where there are any: https://wicg.github.io/ua-client-hints/#low-entropy-table */
  userAgent: { brands: { brand: string; version: string }[]; mobile: boolean; platform: string } | undefined;
}

/** Read once, because it takes longer to create a formatter than to read all the other properties. */
let timeZone: string | undefined;

/**
 * Returns language, sizes and user agent at the time of the call, and the time zone of the page's first call. Use it in the option
 * `context`.
 */
export const browserContext = (): BrowserContext => {
  timeZone ??= Intl.DateTimeFormat().resolvedOptions().timeZone;
  return {
    timeZone,
    language: navigator.language,
    screen: { width: screen.width, height: screen.height },
    viewport: { width: innerWidth, height: innerHeight },
    userAgent: (navigator as { userAgentData?: { toJSON(): BrowserContext['userAgent'] } }).userAgentData?.toJSON(),
  };
};
