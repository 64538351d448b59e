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
   * The vendor that the visitor has to consent to, too, by its number in the Global Vendor List. The platform has to disclose the
   * vendor to the visitor, and the site must not forbid the vendor one of the `purposes`.
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
  /** Platforms of TCF 2.2 have no `disclosedVendors`. */
  readonly vendor?: { readonly consents?: Consents; readonly disclosedVendors?: Consents };
  /** Restrictions of a purpose for a vendor. 0: it is not allowed. */
  readonly publisher?: { readonly restrictions?: Readonly<Record<string, Readonly<Record<string, number>>>> };
}
type TcfApi = (
  command: string,
  version: 2,
  callback: (data: TcData | null, isDone: boolean) => void,
  parameter?: number,
) => void;

const findApi = (): TcfApi | undefined => {
  const { __tcfapi: api } = window as { __tcfapi?: TcfApi };
  return typeof api === 'function' ? api : undefined;
};

/** Whether a vendor has consent, was disclosed, and is not kept from one of the purposes. */
const isVendorAllowed = (id: number, purposes: readonly number[], { vendor, publisher }: TcData): boolean =>
  vendor?.consents?.[id] === true &&
  (!vendor.disclosedVendors || vendor.disclosedVendors[id] === true) &&
  purposes.every((purpose) => publisher?.restrictions?.[purpose]?.[id] !== 0);

/**
 * Creates a plugin that follows a platform of the IAB's Transparency and Consent Framework 2.3. The plugin reads the choices once the
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
    const read = (data: TcData | null, isDone: boolean) => {
      const { listenerId } = data ?? {};
      // The platform replaces the function that the page had while the platform was loading.
      if (typeof listenerId === 'number') end = () => findApi()?.('removeEventListener', 2, () => {}, listenerId);
      if (isOver) return end();
      if (!isDone || !data || !/^(tcloaded|useractioncomplete)$/.test(data.eventStatus ?? '')) return;
      const isNew = data.eventStatus === 'useractioncomplete';
      if (data.gdprApplies === false) return answer(elsewhere, isNew);
      const isAllowed = purposes.every((id) => data.purpose?.consents?.[id] === true);
      answer(isAllowed && (vendor === undefined || isVendorAllowed(vendor, purposes, data)), isNew);
    };
    const stop = whenThere(findApi, (api) => api('addEventListener', 2, read));
    return () => {
      isOver = true;
      stop();
      end();
    };
  });
};
