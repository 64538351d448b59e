/** Where a request comes from. */
export interface ConnectionInfo {
  /** The connection's other end: an IP address. `toNodeHandler` passes it. */
  readonly address?: string | undefined;
}

/** How the relay finds the address of a client behind proxies. */
export interface AddressOptions {
  /**
   * So many proxies in front of the relay add the address that they see to `addressHeader`. Entries before these come from the
   * client, which can write what it likes, so the relay counts from the right. With 0 it uses the connection's address.
   *
   * @default 0
   */
  trustedProxies?: number | undefined;
  /**
   * The header that the proxies write.
   *
   * @default 'X-Forwarded-For'
   */
  addressHeader?: string | undefined;
}

/** The header to which a proxy adds the address that it sees. */
export const FORWARDED_FOR = 'X-Forwarded-For';

/** The address of the client, or undefined if it is unknown. */
export const clientAddress = (
  headers: Pick<Headers, 'get'>,
  { address }: ConnectionInfo,
  { trustedProxies = 0, addressHeader = FORWARDED_FOR }: AddressOptions,
): string | undefined => {
  if (!trustedProxies) return address;
  const entries = (headers.get(addressHeader) ?? '').split(',').map((entry) => entry.trim());
  const named = entries.filter(Boolean);
  // With fewer entries than proxies, the request did not pass all of them, and the client may have written each entry.
  return named.at(-trustedProxies) ?? address;
};

/** Whether a value can name a header. */
export const isHeaderName = (value: unknown): boolean =>
  typeof value === 'string' && /^[\w!#$%&'*+.^`|~-]+$/.test(value);

/** IPv4, or the eight groups of IPv6 without leading zeros. */
type Address = { readonly ipv4: string } | { readonly groups: readonly string[] };

const GROUPS = 8;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/;
/** Prefixes of IPv6 behind which an IPv4 address stands: mapped (RFC 4291) and NAT64 (RFC 6052). */
const IPV4_BEHIND = /^(0:0:0:0:0:ffff|64:ff9b:0:0:0:0):/;

/** IPv6 as RFC 5952 writes it, or undefined: a `URL` has it so. */
const standardIPv6 = (address: string): string | undefined => {
  const url = `http://[${address}]`;
  return URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : undefined;
};

const groupsOf = (standard: string): string[] => {
  const [head = '', tail] = standard.split('::');
  const before = head ? head.split(':') : [];
  const after = tail ? tail.split(':') : [];
  return [...before, ...Array<string>(GROUPS - before.length - after.length).fill('0'), ...after];
};

const bytesOf = (group: string): number[] => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255];

/** Reads an address. Some proxies add the port, brackets around IPv6, or a zone. Undefined for a text that is no address. */
const read = (text: string): Address | undefined => {
  const bare = text
    .replace(/^\[(.*)\](:\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
    .replace(/%.*$/, '');
  if (IPV4.test(bare)) return { ipv4: bare };
  const standard = /^[\da-f:.]{2,45}$/i.test(bare) && standardIPv6(bare);
  if (!standard) return undefined;
  const groups = groupsOf(standard);
  return IPV4_BEHIND.test(groups.join(':')) ? { ipv4: groups.slice(-2).flatMap(bytesOf).join('.') } : { groups };
};

/**
 * The part of an address that one client cannot change at will: all of IPv4, and the first 64 bits of IPv6. One client may have all
 * addresses of a /64 network. A text that is no address is `unknown`, because a client may have written it.
 */
export const networkOf = (text: string): string => {
  const address = read(text);
  if (!address) return 'unknown';
  return 'ipv4' in address ? address.ipv4 : `${address.groups.slice(0, 4).join(':')}::/64`;
};

/** The address in its standard form, or undefined for a text that is none. */
export const standardForm = (text: string): string | undefined => {
  const address = read(text);
  return address && ('ipv4' in address ? address.ipv4 : standardIPv6(address.groups.join(':')));
};

/** 6to4 (RFC 3056): the next 32 bits are an IPv4 address, whose last 8 bits are not kept. */
const of6to4 = ([first, second, third = '0']: readonly string[]) => [
  first,
  second,
  (Number.parseInt(third, 16) & 0xff00).toString(16),
];

/** The first 24 bits of IPv4, or 48 of IPv6, in the form of an address. Undefined for a text that is none. */
export const shortened = (text: string): string | undefined => {
  const address = read(text);
  if (!address) return undefined;
  if ('ipv4' in address) return address.ipv4.replace(/\d+$/, '0');
  const { groups } = address;
  return standardIPv6(`${(groups[0] === '2002' ? of6to4(groups) : groups.slice(0, 3)).join(':')}::`);
};
