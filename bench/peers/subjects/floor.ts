/** The least that a call has to keep of an event. */
export interface FloorEvent {
  timestamp: number;
  event: string;
  payload: unknown;
}

const correlationValue = crypto.randomUUID();

/** The event as the service accepts it. */
const textOf = ({ timestamp, event, payload }: FloorEvent) =>
  JSON.stringify({
    uuid: crypto.randomUUID(),
    timestamp: new Date(timestamp),
    event,
    correlationValue,
    payload,
  });

/** How long (ms) a floor waits for more events, which is clew's default. */
export const WAIT = 3000;
/** Most characters of one request, because browsers allow keep-alive requests 64 KiB. */
const MOST = 60_000;

/** Sends events, one request after the other. */
export const post = async (events: readonly FloorEvent[]): Promise<void> => {
  for (let rest = events.map(textOf); rest[0]; ) {
    let length = 0;
    const end = rest.findIndex((text) => {
      length += text.length + 1;
      return length > MOST;
    });
    const part = end > 0 ? rest.slice(0, end) : rest;
    rest = rest.slice(part.length);
    const response = await fetch('/floor', { method: 'POST', body: `[${part}]`, keepalive: true });
    await response.text();
  }
};
