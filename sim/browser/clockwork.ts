import { createLane, type Lane, type Owner } from '../world/scheduler.ts';
import type { World } from '../world/world.ts';

/** How often (ms) timers of a hidden page run: https://developer.chrome.com/blog/timer-throttling-in-chrome-88 */
const THROTTLE = 1000;
/** Longest delay (ms) of a timer. A longer delay overflows 32 bits, and the timer runs at once. */
const MOST_DELAY = 2 ** 31 - 1;

/**
 * Timers, `Date` and random numbers of one page or server, in virtual time.
 *
 * @param isThrottled whether timers run at whole seconds only, as in a hidden page
 * @param clock ms since the epoch. Default: the visitor's clock
 */
export const createClockwork = (
  world: World,
  owner: Owner,
  guard: (run: () => void) => void,
  clock = world.clock,
  isThrottled = () => false,
) => {
  const { scheduler } = world;
  const random = world.random.fork(owner.name);
  const started = scheduler.now();
  const timers = new Map<number, () => void>();
  /** One lane for each due time, because timers that are due at the same time run in the order in which they were set. */
  const lanes = new Map<number, Lane>();
  let last = 0;
  const setTimeout = (run: (...args: unknown[]) => void, delay = 0, ...args: unknown[]): number => {
    const id = ++last;
    const wait = delay > MOST_DELAY ? 1 : Math.max(Number(delay) || 0, 1);
    const due = scheduler.now() + wait;
    const lane = lanes.get(due) ?? createLane();
    lanes.set(due, lane);
    const fire = () => {
      lanes.delete(due);
      const late = THROTTLE - (scheduler.now() % THROTTLE);
      if (isThrottled() && late < THROTTLE) {
        timers.set(id, scheduler.after(late, `${owner.name} throttled timer`, fire, { owner }));
        return;
      }
      timers.delete(id);
      guard(() => run(...args));
    };
    timers.set(id, scheduler.after(wait, `${owner.name} timer`, fire, { owner, lane }));
    return id;
  };
  const clearTimeout = (id?: number) => {
    timers.get(id ?? 0)?.();
    timers.delete(id ?? 0);
  };
  class VirtualDate extends Date {
    constructor(...given: unknown[]) {
      super(...((given.length ? given : [clock()]) as [number]));
    }
    static override now = clock;
  }
  const getRandomValues = <T extends Uint8Array | Uint32Array>(values: T): T => {
    const drawn = random.bytes(values.byteLength);
    for (let i = 0; i < values.length; i++)
      values[i] = drawn.readUIntBE(i * values.BYTES_PER_ELEMENT, values.BYTES_PER_ELEMENT);
    return values;
  };
  const randomUUID = () => {
    const hex = random.bytes(16).toString('hex');
    const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) % 4];
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
  };
  return {
    setTimeout,
    clearTimeout,
    setInterval: () => {
      throw new Error('setInterval is not simulated');
    },
    Date: VirtualDate,
    Math: Object.assign(Object.create(Math), { random: random.next }) as Math,
    performance: { now: () => scheduler.now() - started },
    crypto: { getRandomValues, randomUUID },
  };
};
