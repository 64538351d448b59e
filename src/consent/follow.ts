import type { Plugin } from '../api/types.js';

/**
 * Takes the visitor's answer. `undefined` stands for none yet.
 *
 * @param isNew the visitor has answered at this moment. The answer then counts even if it is the same as before, because the visitor
 * may have answered otherwise in another tab meanwhile
 */
export type Answer = (isGranted: boolean | undefined, isNew?: boolean) => void;

/**
 * Creates a plugin from a function that watches a consent platform. The plugin calls `tracker.consent` for each answer that is new or
 * differs from the one before. The plugin never assumes an answer.
 *
 * @param watch starts to watch the platform, calls `answer` whenever the platform has news, and returns a function that ends this
 * @example
 * followConsent((answer) => {
 *   const read = (event: Event) => answer((event as CustomEvent).detail === 'yes');
 *   addEventListener('cookie-answer', read);
 *   return () => removeEventListener('cookie-answer', read);
 * });
 */
export const followConsent =
  (watch: (answer: Answer) => () => void): Plugin =>
  // Two parameters, so that the tracker notices a plugin that the app has not called.
  (tracker, _tools) => {
    let last: boolean | undefined;
    return watch((isGranted, isNew) => {
      if (isGranted === undefined || (isGranted === last && !isNew)) return;
      last = isGranted;
      tracker.consent(isGranted);
    });
  };

/**
 * Checks an option that lists what the visitor has to accept. All of an empty list would be accepted without an answer.
 *
 * @throws TypeError for anything but a list of names or numbers, with one at least
 */
export const checkList = (name: string, list: readonly (string | number)[]): void => {
  if (!Array.isArray(list) || !list[0] || !list.every(Boolean))
    throw new TypeError(`clew: ${name}: expected a list of what the visitor has to accept`);
};

/** The longest time (ms) between two looks for a platform that is not there yet. */
const LONGEST = 1000;

/** Looks for what a platform defines in the page, until it is there. Returns a function that ends this. */
export const whenThere = <T>(find: () => T | undefined, found: (platform: T) => void): (() => void) => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = (wait: number) => {
    const platform = find();
    if (platform) found(platform);
    else timer = setTimeout(look, wait, Math.min(wait * 2, LONGEST));
  };
  look(50);
  return () => clearTimeout(timer);
};
