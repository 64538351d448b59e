/** What all events of the benchmark carry. `step` is an event's number: by it the server knows one from the other. */
interface Payload {
  step: number;
  plan: string;
}

interface Window {
  /** Set by each subject once it is initialised: tracks one event as its documentation says. */
  track(event: string, payload: Payload): unknown;
}
