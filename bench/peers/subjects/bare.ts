import { post, WAIT } from './floor.js';

/** The bare floor: an array, and keep-alive fetches. What is unsent is lost with the page, and so is what fails. */
let texts: string[] = [];

const send = async () => {
  const sending = texts;
  texts = [];
  await post(sending);
};

window.track = (event, payload) => {
  if (!texts[0]) setTimeout(send, WAIT);
  texts.push(
    JSON.stringify({ uuid: crypto.randomUUID(), timestamp: new Date(), event, correlationValue: thread, payload }),
  );
};

const thread = crypto.randomUUID();
