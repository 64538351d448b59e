import { onTestFinished } from 'vitest';

/** Until the test ends, JSON makes a text of each list, as on a page with Prototype 1.6. */
export const makeListsText = (): void => {
  onTestFinished(() => void Reflect.deleteProperty(Array.prototype, 'toJSON'));
  Object.defineProperty(Array.prototype, 'toJSON', {
    configurable: true,
    enumerable: true,
    writable: true,
    value(this: unknown[]) {
      return `[${Array.from(this, (one) => JSON.stringify(one)).join(', ')}]`;
    },
  });
};
