// @ts-check

/**
 * A value that others watch.
 *
 * @template T
 * @typedef {{ get(): T, set(value: T): void, watch(listener: () => void): void }} Cell
 */

/**
 * @template T
 * @param {T} value
 * @returns {Cell<T>}
 */
export const cell = (value) => {
  /** @type {Set<() => void>} */
  const listeners = new Set();
  return {
    get: () => value,
    set(next) {
      value = next;
      for (const listener of listeners) listener();
    },
    watch: (listener) => void listeners.add(listener),
  };
};

/**
 * Draws now, and once in the next frame after one or more of the cells have changed.
 *
 * @param {Cell<any>[]} cells
 * @param {() => void} draw
 */
export const drawWhenChanged = (cells, draw) => {
  let isDue = false;
  const schedule = () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      draw();
    });
  };
  for (const each of cells) each.watch(schedule);
  draw();
};
