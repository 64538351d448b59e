/** The payload of all events. `step` is an event's number, by which the server distinguishes events. */
interface Payload {
  step: number;
  plan: string;
}

interface Window {
  /** Tracks one event. Each subject sets it once it is initialised, as its documentation recommends. */
  track(event: string, payload: Payload): unknown;
}
