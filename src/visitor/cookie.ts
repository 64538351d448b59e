/** A first-party cookie that all hosts of a domain share: `SameSite=Lax`, `Secure` on https, 400 days. */
export interface DomainCookie {
  /** Its values: another `domain` of this site may have left one, or other hosts use one. */
  read(): string[];
  /** Writes it. Answers whether that worked. */
  write(value: string): boolean;
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
    // biome-ignore lint/suspicious/noDocumentCookie: a page that leaves cannot wait, and not every browser has the other way
    document.cookie = text;
  } catch {}
};

/** The domains of this host, the widest first; '' is the host itself. */
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

/** @param domain `auto` is the widest that the browser allows, found with the first write: before consent nothing is written */
export const createCookie = (name: string, domain: string): DomainCookie => {
  let found = domain === 'auto' ? undefined : domain.replace(/^\./, '').toLowerCase();
  return {
    read: () => valuesOf(name),
    write(value) {
      found ??= widestDomain(`${name}.probe`);
      put(name, value, found);
      return valuesOf(name).includes(value);
    },
    erase() {
      for (const each of domainsHere()) for (const one of [name, renewedName(name)]) put(one, '', each);
      return !valuesOf(name)[0];
    },
  };
};
