/** A first-party cookie that all hosts of a domain share: `SameSite=Lax`, `Secure` on https, 400 days. */
export interface DomainCookie {
  /** Its value, or undefined when there is none. */
  read(): string | undefined;
  /** Writes it, or with '' erases it. Answers whether that worked. */
  write(value: string): boolean;
}

/** As long as browsers let a cookie live, in s: 400 days (RFC 6265bis, section 5.5). */
const MAX_AGE = 34_560_000;

/** In a sandboxed frame, reading throws and so does writing: that counts as a cookie that the browser has refused. */
const find = (name: string): string | undefined => {
  try {
    return document.cookie.match(`(?:^|; )${name}=([^;]*)`)?.[1];
  } catch {
    return undefined;
  }
};

const put = (name: string, value: string, domain: string): void => {
  // Plain http is for development: there browsers keep no secure cookie.
  const where = location.protocol === 'https:' ? 'Secure; ' : '';
  const text = `${name}=${value}; ${where}Path=/; SameSite=Lax; Max-Age=${value ? MAX_AGE : 0}; Domain=${domain}`;
  try {
    // biome-ignore lint/suspicious/noDocumentCookie: a page that leaves cannot wait, and not every browser has the other way
    document.cookie = text;
  } catch {}
};

/** The widest domain of this host for which the browser keeps cookies; '' is the host itself. */
const widestDomain = (probe: string): string => {
  const labels = location.hostname.split('.');
  const domains = labels.map((_, n) => labels.slice(-1 - n).join('.'));
  const isKept = (domain: string) => {
    put(probe, '1', domain);
    const found = find(probe);
    put(probe, '', domain);
    return found;
  };
  return domains.find(isKept) ?? '';
};

/** @param domain `auto` is the widest that the browser allows, found with the first write: before consent nothing is written */
export const createCookie = (name: string, domain: string): DomainCookie => {
  let found = domain === 'auto' ? undefined : domain;
  return {
    read: () => find(name),
    write(value) {
      found ??= widestDomain(`${name}.probe`);
      put(name, value, found);
      return (find(name) ?? '') === value;
    },
  };
};
