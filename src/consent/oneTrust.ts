import type { Plugin } from '../api/types.js';
import { checkList, followConsent, whenThere } from './follow.js';

/** Options of `oneTrust`. */
export interface OneTrustOptions {
  /**
   * The groups that have to be active, by id.
   *
   * @default ['C0002'] (performance)
   */
  groups?: readonly string[] | undefined;
}

interface OneTrustPage {
  readonly OnetrustActiveGroups?: string;
  readonly OneTrust?: { IsAlertBoxClosed?(): boolean; OnConsentChanged?(changed: () => void): void };
}

/**
 * Creates a plugin that follows OneTrust. If all `groups` are in `OnetrustActiveGroups`, that is a yes. Else it is a no once the
 * visitor has closed the banner, and no answer before. https://developer.onetrust.com/onetrust/docs/javascript-events-guide
 *
 * @throws TypeError if `groups` is empty or no list
 * @example createTracker({ baseUrl: '/clew', consent: 'required', plugins: [oneTrust({ groups: ['C0002', 'C0004'] })] })
 */
export const oneTrust = ({ groups = ['C0002'] }: OneTrustOptions = {}): Plugin => {
  checkList('groups', groups);
  return followConsent((answer) => {
    const page = () => window as unknown as OneTrustPage;
    const listening = new AbortController();
    const read = (hasAnswered = false) => {
      const { OnetrustActiveGroups: active, OneTrust: platform } = page();
      if (listening.signal.aborted || typeof active !== 'string') return;
      const isAllowed = groups.every((group) => active.split(',').includes(group));
      if (isAllowed || hasAnswered || platform?.IsAlertBoxClosed?.() === true) answer(isAllowed, hasAnswered);
    };
    // At each load, and after each change.
    addEventListener('OneTrustGroupsUpdated', () => read(), listening);
    const stop = whenThere(
      // A page that passes a geolocation of its own creates the object before OneTrust loads.
      () => (page().OneTrust?.OnConsentChanged ? page().OneTrust : undefined),
      (platform) => {
        // Only a choice of the visitor changes the consent.
        platform.OnConsentChanged?.(() => read(true));
        read();
      },
    );
    return () => {
      stop();
      listening.abort();
    };
  });
};
