/** How long (ms) a floor waits for more events: as clew does. */
export const WAIT = 3000;
/** Most characters of one request: what is kept alive may not have more than 64 KiB. */
const MOST = 60_000;

/** Sends events that are JSON already, one request after the other. */
export const post = async (texts: readonly string[]): Promise<void> => {
  for (let rest = texts; rest[0]; ) {
    let length = 0;
    const end = rest.findIndex((text) => (length += text.length + 1) > MOST);
    const part = end > 0 ? rest.slice(0, end) : rest;
    rest = rest.slice(part.length);
    const response = await fetch('/floor', { method: 'POST', body: `[${part}]`, keepalive: true });
    await response.text();
  }
};
