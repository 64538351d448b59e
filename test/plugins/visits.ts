import type { Random } from '../../sim/world/random.ts';
import { type FakePage, settle } from './page.ts';

/** How long (ms) after the last input the visitor counts as idle. */
export const IDLE = 30_000;
/** All that the visitor does falls on a multiple of it. */
const TICK = 50;
const DEPARTURES = ['close', 'hide', 'hide and close', 'cache', 'another view and close'] as const;

/**
 * A visit with a departure at any moment.
 *
 * @returns the true active time (ms) by the path in sight, which is counted tick by tick from what the visitor does
 */
export const visit = async (page: FakePage, random: Random): Promise<Map<string, number>> => {
  const truth = new Map<string, number>();
  let [isVisible, isFocused, now, inputAt, path] = [true, true, 0, 0, '/'];
  const isActive = () => isVisible && isFocused && now < inputAt + IDLE;
  /** Mostly moments, at times minutes. */
  const pause = async (most = random.chance(0.9) ? 6000 : 90_000) => {
    const end = now + TICK * Math.ceil((most * random.next()) / TICK);
    page.pass(end - now);
    for (; now < end; now += TICK) if (isActive()) truth.set(path, (truth.get(path) ?? 0) + TICK);
    await settle(3);
  };
  const fire = async (type: string, more?: object) => {
    page.fire(type, more);
    await settle(3);
  };
  const look = async (visible: boolean, focused: boolean) => {
    if (visible && focused && !(isVisible && isFocused)) inputAt = now;
    [isVisible, isFocused] = [visible, focused];
    page.look(visible, focused);
    await settle(3);
  };
  const push = async () => {
    path = `/${now}`;
    page.push(path);
    await settle(3);
  };
  const input = async () => {
    inputAt = now;
    await fire(random.pick(['pointermove', 'pointerdown', 'keydown', 'wheel']));
  };
  const act = () => {
    if (!isVisible || !isFocused) return look(true, true);
    if (random.chance(0.1)) return look(false, false);
    if (random.chance(0.1)) return look(true, false);
    return random.chance(0.1) ? push() : input();
  };
  const depart = async () => {
    const how = random.pick(DEPARTURES);
    if (how.startsWith('hide')) await look(false, false);
    if (how.startsWith('another')) {
      await push();
      await pause(200);
    }
    if (how !== 'hide') await fire('pagehide', { persisted: how === 'cache' });
    if (how !== 'cache') return;
    await look(false, false);
    await pause();
    await look(true, true);
    await fire('pageshow', { persisted: true });
    await pause();
    await fire('pagehide', { persisted: false });
  };
  for (let steps = random.below(40); steps > 0; steps--) {
    await act();
    await pause();
  }
  await depart();
  return truth;
};
