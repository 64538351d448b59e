import { type FloorEvent, post, WAIT } from './floor.js';

/** The bare floor: an array and keep-alive fetches. Unsent events are lost with the page, and a failed request has no retry. */
let events: FloorEvent[] = [];

const send = () => {
  post(events);
  events = [];
};

window.track = (event, payload) => {
  if (!events[0]) setTimeout(send, WAIT);
  events.push({ timestamp: Date.now(), event, payload });
};
