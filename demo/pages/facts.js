// @ts-check

/** @param {unknown} value */
const textOf = (value) => (typeof value === 'object' ? JSON.stringify(value) : String(value));

/** The values of a payload with their names. A payload that is no object has only a value. @param {unknown} payload @returns {[name: string, value: string][]} */
export const factsOf = (payload) => {
  if (payload === null || payload === undefined) return [];
  if (typeof payload !== 'object' || Array.isArray(payload)) return [['', textOf(payload)]];
  return Object.entries(payload).map(([name, value]) => [name, textOf(value)]);
};

/** The facts of an event. Those of a page view are only its path, to save room. @param {{ event: string, payload: unknown }} event */
export const factsOfEvent = ({ event, payload }) =>
  factsOf(payload).filter(([name]) => event !== 'page_view' || name === 'path');
