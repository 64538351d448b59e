// @ts-check
import { byId, counted } from './dom.js';
import { arrived, watchService } from './service.js';
import { readStored } from './stored.js';

/** Counts what arrived, and what is still kept, of the events that were tracked in the task in which the shop was left. */

const query = new URLSearchParams(location.search);
const departure = query.get('departure') ?? '';
const expected = Number(query.get('events')) || 0;
byId('expected').textContent = counted(expected, 'time');

/** How often (ms) this browser is asked what it keeps. */
const PACE = 500;
/** How long (ms) the service may take before what has not arrived and is not kept counts as refused. */
const PATIENCE = 3000;
const arrivedHere = performance.now();

const countKept = async () => {
  const { rows } = await readStored();
  return rows.flatMap(({ items }) => items).filter((text) => text.includes(`"departure":"${departure}"`)).length;
};

/** @param {number} missing @param {number} kept */
const explain = (missing, kept) => {
  if (!missing) return 'Handed to the browser as the page went away, or kept by it and sent from here.';
  if (kept)
    return `${counted(kept, 'event is', 'events are')} kept in this browser, and sent until the service confirms.`;
  if (performance.now() - arrivedHere < PATIENCE) return '';
  return (
    'The service had answered well just before, so clew handed them to the browser and kept no copy; then the service ' +
    'refused them, and the answer to a beacon can be read by nobody.'
  );
};

const show = async () => {
  if (!arrived.get()) return;
  const payloads = (arrived.get()?.events ?? []).map(({ payload }) => /** @type {any} */ (payload));
  const numbers = payloads.filter((payload) => payload?.departure === departure).map(({ number }) => number);
  const different = new Set(numbers).size;
  const kept = await countKept().catch(() => 0);
  byId('count').textContent = `${different} of ${expected}`;
  byId('verdict').textContent =
    numbers.length > different ? `arrived, ${numbers.length - different} of them twice` : 'arrived, none twice';
  const explanation = explain(expected - different, kept);
  if (byId('explanation').textContent !== explanation) byId('explanation').textContent = explanation;
};

setInterval(show, PACE);
watchService();
