import type { RelayRequest } from './request.js';

/** The cookie that the relay renews. The tracker's `cookieDomain` writes it. */
export interface VisitorCookieOptions {
  /**
   * The domain that the site's hosts share: the domain of the tracker's `cookieDomain`, or the domain that `auto` has found.
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

/** The form that the tracker's `cookieDomain` writes, with the version: the relay sends back no other value. */
const WRITTEN = /^\s*clew(?:\.server)?=([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.(\d{0,15})\.\d{0,15})\s*$/;
/** In s: 400 days, the longest time that browsers keep a cookie (RFC 6265bis, section 5.5). */
const MAX_AGE = 34_560_000;

/**
 * The `Set-Cookie` header that renews the newest value of the request's cookies, or undefined if the request has none. The header's
 * cookie has another name than the tracker's cookie. The visitor may have logged out when the answer arrives, and the header must not
 * replace the newer cookie.
 */
export const renewedCookie = (
  { headers }: RelayRequest,
  { domain, secure = true }: VisitorCookieOptions,
): string | undefined => {
  const [[, value] = []] = (headers.get('Cookie') ?? '')
    .split(';')
    .flatMap((pair) => [WRITTEN.exec(pair) ?? []])
    .sort(([, , one], [, , other]) => Number(other ?? -1) - Number(one ?? -1));
  if (!value) return undefined;
  // Not HttpOnly, because the tracker reads it.
  return `clew.server=${value}; Path=/; Max-Age=${MAX_AGE}; SameSite=Lax${secure ? '; Secure' : ''}; Domain=${domain}`;
};
