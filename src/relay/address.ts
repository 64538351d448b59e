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
  trustedProxies?: number;
  /**
   * The header that the proxies write.
   *
   * @default 'X-Forwarded-For'
   */
  addressHeader?: string;
}

/** The address of the client, or undefined if it is unknown. */
export const clientAddress = (
  headers: Pick<Headers, 'get'>,
  { address }: ConnectionInfo,
  { trustedProxies = 0, addressHeader = 'X-Forwarded-For' }: AddressOptions,
): string | undefined => {
  if (!trustedProxies) return address;
  const entries = (headers.get(addressHeader) ?? '').split(',').map((entry) => entry.trim());
  const named = entries.filter(Boolean);
  // With fewer entries than proxies, the request did not pass all of them, and the client may have written each entry.
  return named.at(-trustedProxies) ?? address;
};

const GROUPS = 8;
/** IPv4 at the end of IPv6, as `::ffff:1.2.3.4` has it. */
const DOTTED = /(\d+\.\d+\.\d+\.\d+)$/;
/** Prefixes of IPv6 behind which an IPv4 address stands: mapped (RFC 4291) and NAT64 (RFC 6052). */
const IPV4_BEHIND = /^(0:0:0:0:0:ffff|64:ff9b:0:0:0:0):/;

/** The eight groups of an IPv6 address, without leading zeros. */
const groupsOf = (address: string): string[] => {
  const [head = '', tail] = address.toLowerCase().split('::');
  const before = head ? head.split(':') : [];
  const after = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? [] : Array<string>(Math.max(GROUPS - before.length - after.length, 0)).fill('0');
  return [...before, ...zeros, ...after].map((group) => group.replace(/^0+(?=.)/, ''));
};

/**
 * The part of an address that one client cannot change at will: all of IPv4, and the first 64 bits of IPv6, of which a client
 * has all the others. A text that is no address is `unknown`, because a client may have written it.
 */
export const networkOf = (address: string): string => {
  // Some proxies add the port, and brackets around IPv6.
  const bare = address
    .replace(/^\[(.*)\](:\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
    .replace(/%.*$/, '');
  if (!/^[\da-f:.]{2,45}$/i.test(bare)) return 'unknown';
  const dotted = DOTTED.exec(bare)?.[1];
  if (dotted) return dotted;
  const groups = groupsOf(bare);
  return IPV4_BEHIND.test(`${groups.join(':')}:`) ? groups.join(':') : `${groups.slice(0, 4).join(':')}::/64`;
};
