import type { Plugin } from '../api/types.js';
import { campaignIn } from '../page/campaign.js';
import { checkNames } from './checkNames.js';
import { LEFT } from './engagement.js';
import { ABANDONED } from './form.js';
import { isOf, latest, type Session, sessionAt, sessionIn } from './session.js';

/** Options of `sessions`. */
export interface SessionOptions {
  /**
   * After how long (ms) without an event a session ends.
   *
   * @default 1800000 (30 minutes)
   */
  timeout?: number | undefined;
}

/** Where the session is kept, and in a tab's own storage the campaign that has brought the visitor there. */
const KEY = 'sessions';
/** Events that report what was, and neither begin nor extend a session. */
const ENDINGS = [LEFT, ABANDONED];
/** The stored time of the last event may be older by this part of the time-out: not every event writes it. */
const SLACK = 0.01;

/** 96 random bits as text. `crypto.randomUUID` is missing on plain http. */
const makeId = (): string =>
  Array.from(crypto.getRandomValues(new Uint32Array(3)), (part) => part.toString(36).padStart(7, '0')).join('');

/**
 * Creates a plugin that adds `sessionId` and `sessionNumber` to every event. A session ends after 30 minutes without an event. A link
 * with another campaign (`utm_source`, `gclid` and the like) and another visitor id begin a new one. All tabs of the origin share the
 * session, which is stored only with the visitor's consent.
 *
 * @throws TypeError if `timeout` is no number above 0, and for an unknown option
 * @example createTracker({ baseUrl: '/clew', plugins: [sessions({ timeout: 15 * 60_000 })] })
 */
export const sessions = (options: SessionOptions = {}): Plugin => {
  checkNames(options, { timeout: 1 });
  const { timeout = 1_800_000 } = options;
  if (typeof timeout !== 'number' || !(timeout > 0))
    throw new TypeError('clew: timeout: expected a number of ms above 0');
  return (_tracker, { visitorId, local, session: tab, onTrack }) => {
    /** The session as this page knows it: before consent, and where storage is refused, it is stored nowhere. */
    let known: Session | undefined;
    /** The campaign of this tab. A reload is no new visit by it. */
    let noticed = tab.get(KEY);

    /** The campaign of the address that has opened the page, until the first event: the app may change the address before. */
    let arrived = campaignIn(location.href);

    const notice = () => {
      const campaign = campaignIn(location.href) || arrived;
      arrived = undefined;
      if (!campaign || campaign === noticed) return undefined;
      noticed = campaign;
      return campaign;
    };
    const store = (next: Session, stored: Session | undefined) => {
      const isStored = stored?.id === next.id && stored.by === next.by && stored.campaign === next.campaign;
      if (isStored && Math.abs(next.at - stored.at) < timeout * SLACK) return;
      // The campaign is kept beside the session, also if it came before consent.
      if (local.set(KEY, next) && noticed) tab.set(KEY, noticed);
    };

    /** When the page was opened. Calls that the stub has saved on an earlier page are older. */
    const openedAt = Date.now() - performance.now();

    onTrack(({ event, timestamp }) => {
      const now = Date.now();
      // The tracker's clock does not fall back, and the visitor's may.
      const at = Math.min(Date.parse(timestamp), now);
      const by = visitorId();
      const stored = sessionIn(local.get(KEY));
      const last = latest(stored, known);
      if (!last || !isOf(last, by) || !ENDINGS.includes(event)) {
        known = sessionAt(last, { at, now, by, campaign: at < openedAt ? undefined : notice() }, timeout, makeId);
        store(known, stored);
      } else known = last;
      return { sessionId: known.id, sessionNumber: known.number };
    });
    return () => {};
  };
};
