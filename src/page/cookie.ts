/** What all hosts of a site know of the visitor. */
export interface SharedThread {
  readonly thread: string;
  /** How many threads the visitor has had before: the latest counts, though an answer that comes late sets an earlier one. */
  readonly turn: number;
  /** Of whoever it is that the thread has been identified with: tells people apart, and does not tell who they are. */
  readonly mark?: number | undefined;
}

/** Keeps the visitor's thread where the other hosts of the site find it. */
export interface ThreadCookie {
  read(): SharedThread | undefined;
  /** Writes it, or without one erases it. Answers whether that worked. */
  write(shared?: SharedThread): boolean;
  /** What `mark` is for this primary key. */
  markOf(primaryKey: string): number;
}

/** As long as browsers let a cookie live, in s: 400 days (RFC 6265bis, section 5.5). */
const MAX_AGE = 34_560_000;

const read = (): SharedThread | undefined => {
  const [, thread, turn, mark] = /(?:^|; )clew=([\da-f-]{36})\.(\d+)\.(\d*)/.exec(document.cookie) ?? [];
  return thread && turn ? { thread, turn: +turn, mark: mark ? +mark : undefined } : undefined;
};

const put = (cookie: string, domain: string, age: number): void => {
  // Plain http is for development: there browsers keep no secure cookie.
  const where = location.protocol === 'https:' ? 'Secure; ' : '';
  // biome-ignore lint/suspicious/noDocumentCookie: a page that leaves cannot wait, and not every browser has the other way
  document.cookie = `${cookie}; ${where}Path=/; SameSite=Lax; Max-Age=${age}; Domain=${domain}`;
};

/** The widest domain of this host for which the browser keeps cookies; '' is the host itself. */
const widestDomain = (): string => {
  const labels = location.hostname.split('.');
  const domains = labels.map((_, n) => labels.slice(-1 - n).join('.'));
  const isKept = (domain: string) => {
    put('clew.is=kept', domain, 9);
    const found = document.cookie.includes('clew.is=kept');
    put('clew.is=', domain, 0);
    return found;
  };
  return domains.find(isKept) ?? '';
};

/**
 * For `createTracker`'s option `cookieDomain`: one thread for all hosts of a site, such as `www.` and `app.`, in a cookie
 * (`clew`, `SameSite=Lax`, `Secure` on https, 400 days). It holds the thread, and a number by which it is seen that somebody
 * else has been identified meanwhile; no primary key.
 *
 * @param domain that all hosts share, e.g. `example.com`; `auto` finds the widest one that the browser allows
 * @throws TypeError when the domain is no non-empty string
 */
export const cookieDomain = (domain: string): ThreadCookie => {
  if (typeof domain !== 'string' || !domain)
    throw new TypeError(`clew: cookieDomain: expected a domain or 'auto', not ${domain}`);
  let found = domain === 'auto' ? undefined : domain;
  return {
    read,
    write(shared) {
      found ??= widestDomain();
      const { thread = '', turn = '', mark = '' } = shared ?? {};
      put(`clew=${thread}.${turn}.${mark}`, found, shared ? MAX_AGE : 0);
      return read()?.thread === shared?.thread;
    },
    // FNV-1a, 32 bits: http://www.isthe.com/chongo/tech/comp/fnv/
    markOf: (primaryKey) => {
      let mark = 2166136261;
      for (const character of primaryKey) mark = Math.imul(mark ^ (character.codePointAt(0) ?? 0), 16777619) >>> 0;
      return mark;
    },
  };
};
