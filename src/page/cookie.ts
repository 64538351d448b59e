/** What all hosts of a site know of the visitor. */
export interface SharedThread {
  readonly thread: string;
  /** Of whoever it is that the thread has been identified with: tells people apart, and does not tell who they are. */
  readonly mark: number | undefined;
}

/** Keeps the visitor's thread where the other hosts of the site find it. */
export interface ThreadCookie {
  read(): SharedThread | undefined;
  /** Writes it, or without one erases it. Answers whether that worked. */
  write(shared?: SharedThread): boolean;
  /** What `mark` is for this primary key. */
  markOf(primaryKey: string): number;
}

const NAME = 'clew';
/** As long as browsers let a cookie live, in s: 400 days (RFC 6265bis, section 5.5). */
const MAX_AGE = 34_560_000;

const cookieNamed = (name: string): string | undefined => document.cookie.match(`(?:^|; )${name}=([^;]*)`)?.[1];

const put = (name: string, value: string, domain: string, age: number): void => {
  // Plain http is for development: there browsers keep no secure cookie.
  const secure = location.protocol === 'https:' ? '; Secure' : '';
  // biome-ignore lint/suspicious/noDocumentCookie: a page that leaves cannot wait, and not every browser has the other one
  document.cookie = `${name}=${value}; Path=/; Max-Age=${age}; SameSite=Lax${secure}${domain && `; Domain=${domain}`}`;
};

/** The widest domain of this host for which the browser keeps cookies, of a name of its own; '' where it is the host itself. */
const widestDomain = (): string => {
  const labels = location.hostname.split('.');
  const probe = `${NAME}.probe`;
  for (let n = labels.length - 1; n > 0; n--) {
    const domain = labels.slice(n - 1).join('.');
    put(probe, '1', domain, 60);
    const isKept = cookieNamed(probe);
    put(probe, '', domain, 0);
    if (isKept) return domain;
  }
  return '';
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
  /** Found when it is needed: before consent nothing is written. */
  let found = domain === 'auto' ? undefined : domain;
  const read = () => {
    const [, thread, mark] = /^([\da-f-]{36})(?:\.(\d+))?$/.exec(cookieNamed(NAME) ?? '') ?? [];
    return thread ? { thread, mark: mark ? +mark : undefined } : undefined;
  };
  return {
    read,
    write(shared) {
      found ??= widestDomain();
      const { thread = '', mark } = shared ?? {};
      put(NAME, mark === undefined ? thread : `${thread}.${mark}`, found, shared ? MAX_AGE : 0);
      return read()?.thread === shared?.thread;
    },
    // FNV-1a, 32 bits: http://www.isthe.com/chongo/tech/comp/fnv/
    markOf: (primaryKey) =>
      [...primaryKey].reduce((sum, c) => Math.imul(sum ^ (c.codePointAt(0) ?? 0), 16777619), 2166136261) >>> 0,
  };
};
