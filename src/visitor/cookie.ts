/** A first-party cookie that all hosts of a domain share: `SameSite=Lax`, `Secure` on https, 400 days. */
export interface DomainCookie {
  /** The cookie's values: another `domain` of this site may have left one, or other hosts use one. */
  read(): string[];
  /** Writes it for this domain and its hosts. Answers whether that worked. */
  write(value: string, domain: string): boolean;
  /** The widest domain that the browser allows. To find it, cookies are written, which nothing may be before consent. */
  widest(): string;
  /** Erases it on all domains. Answers whether that worked. */
  erase(): boolean;
}

/** As long as browsers let a cookie live, in s: 400 days (RFC 6265bis, section 5.5). */
const MAX_AGE = 34_560_000;

/** The cookie that a relay has set: under the same name, its late answer would replace a newer value. */
const renewedName = (name: string): string => `${name}.server`;

/** The values that the page can read. In a sandboxed frame, reading throws, and the browser refuses the cookie. */
const valuesOf = (name: string): string[] => {
  try {
    return document.cookie
      .split('; ')
      .map((pair) => pair.split('='))
      .flatMap(([key, value = '']) => (key === name || key === renewedName(name) ? value : []));
  } catch {
    return [];
  }
};

const put = (name: string, value: string, domain: string): void => {
  // Plain http is for development: there browsers keep no secure cookie.
  const where = location.protocol === 'https:' ? 'Secure; ' : '';
  const text = `${name}=${value}; ${where}Path=/; SameSite=Lax; Max-Age=${value ? MAX_AGE : 0}; Domain=${domain}`;
  try {
    // biome-ignore lint/suspicious/noDocumentCookie: a leaving page cannot wait for CookieStore, which not every browser has
    document.cookie = text;
  } catch {}
};

/** The domains of this host, the widest first. '' is the host itself. */
const domainsHere = (): string[] => {
  const labels = location.hostname.split('.');
  return [...labels.map((_, n) => labels.slice(-1 - n).join('.')), ''];
};

/** The widest domain of this host for which the browser keeps cookies. */
const widestDomain = (probe: string): string => {
  const isKept = (domain: string) => {
    put(probe, '1', domain);
    const [found] = valuesOf(probe);
    put(probe, '', domain);
    return found;
  };
  return domainsHere().find(isKept) ?? '';
};

export const createCookie = (name: string): DomainCookie => ({
  read: () => valuesOf(name),
  write(value, domain) {
    put(name, value, domain);
    return valuesOf(name).includes(value);
  },
  widest: () => widestDomain(`${name}.probe`),
  erase() {
    for (const each of domainsHere()) for (const one of [name, renewedName(name)]) put(one, '', each);
    return !valuesOf(name)[0];
  },
});
