// @ts-check
import { byId } from './dom.js';
import { arrived, watchService } from './service.js';

/** Counts what arrived of the events that were tracked in the task in which the shop was left. */

const query = new URLSearchParams(location.search);
const departure = query.get('departure');
const expected = Number(query.get('events')) || 0;
byId('expected').textContent = String(expected);

const count = () => {
  const payloads = (arrived.get()?.events ?? []).map(({ payload }) => /** @type {any} */ (payload));
  const numbers = payloads.filter((payload) => payload?.departure === departure).map(({ number }) => number);
  const different = new Set(numbers).size;
  byId('count').textContent = `${different} of ${expected}`;
  byId('verdict').textContent =
    numbers.length > different ? `arrived, ${numbers.length - different} of them twice` : 'arrived, none twice';
  byId('explanation').textContent =
    different < expected
      ? 'The others are kept in this browser and are sent again until the service confirms them.'
      : 'Handed to the browser as the page went away.';
};

arrived.watch(count);
watchService();
