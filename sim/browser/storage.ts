/**
 * A storage area like `localStorage`, whose properties are the entries of a map that outlives the page.
 *
 * @param limits `most`: characters of all keys and values together
 * @param onChange called after each write and each deletion, with the values before and after it
 */
export const createStorage = (
  entries: Map<string, string>,
  limits: { isRefused: boolean; most: number },
  onChange: (key: string, before: string | undefined, after: string | undefined) => void = () => {},
): object => {
  const check = () => {
    if (limits.isRefused) throw new DOMException('storage is refused', 'SecurityError');
  };
  const write = (key: string, value: string) => {
    let length = key.length + value.length;
    for (const [other, text] of entries) if (other !== key) length += other.length + text.length;
    // A full localStorage takes a value that is no longer than the old one.
    const isLonger = value.length > (entries.get(key)?.length ?? -1);
    if (isLonger && length > limits.most) throw new DOMException('over quota', 'QuotaExceededError');
    const before = entries.get(key);
    entries.set(key, value);
    onChange(key, before, value);
  };
  return new Proxy(Object.create(null), {
    get(_, key) {
      check();
      return typeof key === 'string' ? entries.get(key) : undefined;
    },
    set(_, key, value) {
      check();
      write(String(key), String(value));
      return true;
    },
    deleteProperty(_, key) {
      check();
      const before = entries.get(String(key));
      entries.delete(String(key));
      onChange(String(key), before, undefined);
      return true;
    },
    has: (_, key) => entries.has(String(key)),
    ownKeys() {
      check();
      return [...entries.keys()];
    },
    getOwnPropertyDescriptor(_, key) {
      const value = entries.get(String(key));
      return value === undefined ? undefined : { value, writable: true, enumerable: true, configurable: true };
    },
  });
};
