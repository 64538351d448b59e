import type { Plugin } from '../api/types.js';
import { checkNames } from './checkNames.js';

/** Options of `exclude`. */
export interface ExcludeOptions {
  /**
   * The parameter of a link that excludes the visitor's browser (`?clew_ignore=1`), until a link with 0 includes it again. `false`
   * turns this off.
   *
   * @default 'clew_ignore'
   */
  staff?: string | false | undefined;
  /**
   * Excludes pages of `localhost`, of 127.0.0.1 and its like, and of files.
   *
   * @default true
   */
  localhost?: boolean | undefined;
  /**
   * Excludes browsers that a program controls (`navigator.webdriver`).
   *
   * @default true
   */
  automated?: boolean | undefined;
  /**
   * The share of visitors whose events are kept, from 0 to 1. The visitor id decides, so it is the same on all pages. Below 1, each
   * event states the share as `sampleRate`.
   *
   * @default 1
   */
  sample?: number | undefined;
}

/** Where it is kept that this browser is one of the staff's. */
const KEY = 'exclude';
const LOCAL = /^(|localhost|.+\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1\])$/;

/** Where a visitor is among all of them, from 0 to 1: the last digits of the visitor id, which are random. */
const placeOf = (visitorId: string): number => Number.parseInt(visitorId.slice(-8), 16) / 2 ** 32;

/** The request of a link with the parameter: to exclude this browser, or to include it. */
const askedIn = (parameter: string): boolean | undefined => {
  const value = new URLSearchParams(location.search).get(parameter);
  return value === null ? undefined : value !== '0';
};

/**
 * Creates a plugin that drops the events of your own staff, of localhost and of automated browsers. With `sample`, it also drops the
 * events of a share of the visitors. The tracker counts such events as `filtered`.
 *
 * @throws TypeError if `sample` is no number from 0 to 1, and for an unknown option
 * @example createTracker({ baseUrl: '/clew', plugins: [exclude({ sample: 0.1 })] })
 */
export const exclude = (options: ExcludeOptions = {}): Plugin => {
  checkNames(options, { staff: 1, localhost: 1, automated: 1, sample: 1 });
  const { staff = 'clew_ignore', localhost = true, automated = true, sample = 1 } = options;
  if (typeof sample !== 'number' || !(sample >= 0 && sample <= 1))
    throw new TypeError('clew: sample: expected a number from 0 to 1');
  return ({ correlationValue }, { visitorId, local, onTrack }) => {
    /** Until it is stored, and so counts for all tabs. */
    let asked = staff ? askedIn(staff) : undefined;
    const isStaff = () => !!staff && (asked ?? local.get(KEY) === true);
    const remember = () => {
      if (!local.set(KEY, asked || undefined)) return false;
      asked = undefined;
      return true;
    };
    // Before consent, nothing is stored. After a refusal, nothing is tracked.
    if (asked !== undefined && !remember()) correlationValue().then(remember, () => {});

    const isExcluded = (localhost && LOCAL.test(location.hostname)) || (automated && navigator.webdriver === true);
    onTrack(() => {
      // Another tab may have excluded the browser since, or included it.
      if (isExcluded || isStaff()) return false;
      if (sample === 1) return undefined;
      const id = visitorId();
      if (id && placeOf(id) >= sample) return false;
      // Without a visitor id, all events are kept.
      return { sampleRate: id ? sample : 1 };
    });
    return () => {};
  };
};
