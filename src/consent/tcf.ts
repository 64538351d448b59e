import type { Plugin } from '../api/types.js';
import { checkList, followConsent, whenThere } from './follow.js';

/** Options of `tcf`. */
export interface TcfOptions {
  /**
   * The purposes that the visitor has to consent to, by number.
   *
   * @default [1, 8] (store information, measure content performance)
   */
  purposes?: readonly number[] | undefined;
  /**
   * The vendor that the visitor has to consent to, too, by its number in the Global Vendor List.
   *
   * @default none
   */
  vendor?: number | undefined;
  /**
   * The answer for visitors to whom the GDPR does not apply, as the platform finds.
   *
   * @default none: the tracker waits
   */
  elsewhere?: boolean | undefined;
}

type Consents = Readonly<Record<string, boolean | undefined>> | undefined;

/** The part of https://github.com/InteractiveAdvertisingBureau/GDPR-Transparency-and-Consent-Framework that clew reads. */
interface TcData {
  readonly gdprApplies?: boolean;
  readonly eventStatus?: string;
  readonly listenerId?: number;
  readonly purpose?: { readonly consents?: Consents };
  readonly vendor?: { readonly consents?: Consents };
}
type TcfApi = (
  command: string,
  version: 2,
  callback: (data: TcData | null, isDone: boolean) => void,
  parameter?: number,
) => void;

/**
 * Creates a plugin that follows a platform of the IAB's Transparency and Consent Framework 2.3. It reads the choices once the
 * platform has loaded them (`tcloaded`) or the visitor has made them (`useractioncomplete`). Consent to all `purposes` is a yes.
 *
 * @throws TypeError if `purposes` is empty or no list
 * @example createTracker({ baseUrl: '/clew', consent: 'required', plugins: [tcf({ purposes: [1, 8, 9] })] })
 */
export const tcf = ({ purposes = [1, 8], vendor, elsewhere }: TcfOptions = {}): Plugin => {
  checkList('purposes', purposes);
  return followConsent((answer) => {
    let end = () => {};
    let isOver = false;
    const read = (api: TcfApi) => (data: TcData | null, isDone: boolean) => {
      const { listenerId } = data ?? {};
      if (typeof listenerId === 'number') end = () => api('removeEventListener', 2, () => {}, listenerId);
      if (isOver) return end();
      if (!isDone || !data || !/^(tcloaded|useractioncomplete)$/.test(data.eventStatus ?? '')) return;
      if (data.gdprApplies === false) return answer(elsewhere);
      const { purpose, vendor: vendors } = data;
      const isAllowed = purposes.every((id) => purpose?.consents?.[id] === true);
      answer(isAllowed && (vendor === undefined || vendors?.consents?.[vendor] === true));
    };
    const stop = whenThere(
      () => (window as { __tcfapi?: TcfApi }).__tcfapi,
      (api) => api('addEventListener', 2, read(api)),
    );
    return () => {
      isOver = true;
      stop();
      end();
    };
  });
};
