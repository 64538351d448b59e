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
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/**
 * The part of an address that one client cannot change at will: all of IPv4, and the first 64 bits of IPv6, of which a client
 * has all the others.
 */
export const networkOf = (address: string): string => {
  // Some proxies add the port, and brackets around IPv6.
  const bare = address
    .replace(/^\[(.*)\](:\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
    .replace(/%.*$/, '');
  const plain = MAPPED.exec(bare)?.[1] ?? bare;
  if (!plain.includes(':')) return plain;
  const [head = '', tail] = plain.toLowerCase().split('::');
  const before = head ? head.split(':') : [];
  const after = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? [] : Array<string>(Math.max(GROUPS - before.length - after.length, 0)).fill('0');
  const groups = [...before, ...zeros, ...after].slice(0, 4).map((group) => group.replace(/^0+(?=.)/, ''));
  return `${groups.join(':')}::/64`;
};
