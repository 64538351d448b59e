import type { RelayRequest } from './request.js';

/** Of which cookie the relay renews the thread. */
export interface ThreadCookieOptions {
  /**
   * The domain that the site's hosts share: the one that the tracker's `cookieDomain` names or, with `auto`, has found. Of
   * another domain there would be two cookies.
   */
  domain: string;
  /**
   * Whether the cookie travels by https only. False is for development.
   *
   * @default true
   */
  secure?: boolean;
}

/** What the tracker's `cookieDomain` writes: nothing else is sent back. */
const WRITTEN = /(?:^|;)\s*clew=([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?:\.\d{0,15}){2})\s*(?:;|$)/;
/** In s: 400 days, the longest that browsers keep one (RFC 6265bis, section 5.5). */
const MAX_AGE = 34_560_000;

/** The same cookie once more, or undefined when the request bears none. */
export const renewedCookie = (
  { headers }: RelayRequest,
  { domain, secure = true }: ThreadCookieOptions,
): string | undefined => {
  const [, value] = WRITTEN.exec(headers.get('Cookie') ?? '') ?? [];
  if (!value) return undefined;
  // Scripts have to read it, and so it is not HttpOnly.
  return `clew=${value}; Path=/; Max-Age=${MAX_AGE}; SameSite=Lax${secure ? '; Secure' : ''}; Domain=${domain}`;
};
