/** These functions run in pages, and keep values for later calls on `window`. */

export const open = (id: string) =>
  new Promise<void>((resolve, reject) => {
    const request = indexedDB.open(id);
    request.onupgradeneeded = () => void request.result.createObjectStore('rows');
    request.onerror = () => reject(request.error);
    request.onsuccess = () => {
      Object.assign(window, { database: request.result });
      resolve();
    };
  });

export const read = (key: string) =>
  new Promise<unknown>((resolve, reject) => {
    const { database } = window as unknown as { database: IDBDatabase };
    const request = database.transaction('rows', 'readwrite').objectStore('rows').get(key);
    request.onerror = () => reject(request.error);
    request.onsuccess = () => resolve(request.result ?? null);
  });

/** Like `read`, but resolves to 'no answer' if another transaction keeps blocking the database. */
export const readSoon = (key: string) =>
  new Promise<unknown>((resolve, reject) => {
    const { database } = window as unknown as { database: IDBDatabase };
    const request = database.transaction('rows', 'readwrite').objectStore('rows').get(key);
    request.onerror = () => reject(request.error);
    request.onsuccess = () => resolve(request.result ?? null);
    setTimeout(() => resolve('no answer'), 5000);
  });

/** Keeps a transaction open until `release` is called. The transaction first writes 'begun' to `key`, and at its end 'ended'. */
export const hold = (key: string) => {
  const { database } = window as unknown as { database: IDBDatabase };
  const rows = database.transaction('rows', 'readwrite').objectStore('rows');
  rows.put('begun', key);
  Object.assign(window, { isHeld: true });
  const again = () => {
    if ((window as unknown as { isHeld: boolean }).isHeld) rows.get(key).onsuccess = again;
    else rows.put('ended', key);
  };
  again();
};

export const release = () => void Object.assign(window, { isHeld: false });

/** Marks the page, because a page that comes back may have been loaded anew. */
export const mark = () => void Object.assign(window, { isMarked: true });

export const isMarked = () => 'isMarked' in window;

export const listen = (name: string) => {
  const channel = new BroadcastChannel(name);
  const received: unknown[] = [];
  channel.onmessage = ({ data }) => void received.push(data);
  Object.assign(window, { channel, received });
};

export const post = (data: unknown) => (window as unknown as { channel: BroadcastChannel }).channel.postMessage(data);

/** Posts again and again, because a new BroadcastChannel of another page gets messages a moment later. */
export const postAgain = (data: unknown) => {
  const { channel } = window as unknown as { channel: BroadcastChannel };
  const post = () => {
    channel.postMessage(data);
    setTimeout(post, 20);
  };
  post();
};

/** Resolves to the messages once this many have arrived. */
export const received = (count: number) =>
  new Promise<unknown[]>((resolve) => {
    const look = () => {
      const { received } = window as unknown as { received: unknown[] };
      if (received.length >= count) resolve(received);
      else setTimeout(look, 20);
    };
    look();
  });

/** Resolves to the value of this key in localStorage once there is one. */
export const stored = (key: string) =>
  new Promise<string>((resolve) => {
    const look = () => {
      const value = localStorage[key];
      if (value === undefined) setTimeout(look, 10);
      else resolve(value);
    };
    look();
  });

/** Resolves to the value after a while in which the timers of another page would have run. */
export const storedLater = (key: string) =>
  new Promise<string | null>((resolve) => setTimeout(() => resolve(localStorage[key] ?? null), 300));

/** Requests the address, and stores the answer's status under this key. */
export const request = ([address, key, keepalive]: [address: string, key: string, keepalive: boolean]) => {
  const store = (text: string | number) => {
    localStorage[key] = text;
  };
  fetch(address, { method: 'POST', body: 'x', keepalive }).then(
    ({ status }) => store(status),
    () => store('failed'),
  );
};
