import type { RelayRequest } from './request.js';

/** Which cookie the relay renews: the one that the tracker's `cookieDomain` writes. */
export interface VisitorCookieOptions {
  /**
   * The domain that the site's hosts share: the one that the tracker's `cookieDomain` names or, with `auto`, has found.
   * Another domain would make a second cookie.
   *
   * @example 'example.com'
   */
  domain: string;
  /**
   * Whether browsers send the cookie over https only. Set it to false for development on plain http.
   *
   * @default true
   */
  secure?: boolean | undefined;
}

/** The form that the tracker's `cookieDomain` writes: the relay sends back no other value. */
const WRITTEN = /(?:^|;)\s*clew=([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?:\.\d{0,15}){2})\s*(?:;|$)/;
/** In s: 400 days, the longest time that browsers keep a cookie (RFC 6265bis, section 5.5). */
const MAX_AGE = 34_560_000;

/** The `Set-Cookie` header that renews the request's cookie, or undefined if the request has none. */
export const renewedCookie = (
  { headers }: RelayRequest,
  { domain, secure = true }: VisitorCookieOptions,
): string | undefined => {
  const [, value] = WRITTEN.exec(headers.get('Cookie') ?? '') ?? [];
  if (!value) return undefined;
  // Not HttpOnly, because the tracker reads it.
  return `clew=${value}; Path=/; Max-Age=${MAX_AGE}; SameSite=Lax${secure ? '; Secure' : ''}; Domain=${domain}`;
};
