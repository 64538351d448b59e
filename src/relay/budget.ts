import { Refusal } from './request.js';

/** The memory of a request besides its body, in bytes: roughly its objects. */
const OVERHEAD = 8192;

/** The part of the budget that one request has taken. */
export interface Share {
  /**
   * Takes so many bytes more.
   *
   * @throws Refusal 503 if the budget has no room, or the request has been answered
   */
  take(bytes: number): void;
  free(): void;
}

/** Creates a function that opens the share of a request. All shares together have at most `most` bytes. */
export const createBudget = (most: number) => {
  let used = 0;
  return (): Share => {
    let mine = 0;
    let isFree = false;
    return {
      take(bytes) {
        const more = bytes + (mine ? 0 : OVERHEAD);
        if (isFree || used + more > most) throw new Refusal(503, 'the relay is busy', 1);
        used += more;
        mine += more;
      },
      free() {
        isFree = true;
        used -= mine;
        mine = 0;
      },
    };
  };
};
