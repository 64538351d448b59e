/** A binary heap: `pop` returns the least item by `isBefore`. */
export interface Heap<T> {
  push(item: T): void;
  pop(): T | undefined;
  readonly size: () => number;
}

export const createHeap = <T>(isBefore: (a: T, b: T) => boolean): Heap<T> => {
  const items: T[] = [];
  const swap = (a: number, b: number) => {
    [items[a], items[b]] = [items[b] as T, items[a] as T];
  };
  const isLess = (a: number, b: number) => isBefore(items[a] as T, items[b] as T);
  const rise = (at: number) => {
    for (let parent = (at - 1) >> 1; at > 0 && isLess(at, parent); parent = (at - 1) >> 1) {
      swap(at, parent);
      at = parent;
    }
  };
  const sink = (at: number) => {
    for (;;) {
      const left = 2 * at + 1;
      if (left >= items.length) return;
      const least = left + 1 < items.length && isLess(left + 1, left) ? left + 1 : left;
      if (!isLess(least, at)) return;
      swap(at, least);
      at = least;
    }
  };
  return {
    push(item) {
      items.push(item);
      rise(items.length - 1);
    },
    pop() {
      const last = items.length - 1;
      if (last < 0) return undefined;
      swap(0, last);
      const least = items.pop();
      sink(0);
      return least;
    },
    size: () => items.length,
  };
};
