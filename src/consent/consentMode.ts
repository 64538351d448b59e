import type { Plugin } from '../api/types.js';
import { checkList, followConsent, whenThere } from './follow.js';

/** Options of `consentMode`. */
export interface ConsentModeOptions {
  /**
   * The consent types that have to be granted.
   *
   * @default ['analytics_storage']
   */
  types?: readonly string[] | undefined;
  /**
   * The name of the data layer in `window`.
   *
   * @default 'dataLayer'
   */
  dataLayer?: string | undefined;
}

type Signals = Readonly<Record<string, unknown>>;
/** How often (ms) the plugin looks whether the page has replaced its data layer. */
const LOOK = 1000;

/**
 * Creates a plugin that follows Google Consent Mode v2, as pages call it: `gtag('consent', 'default' | 'update', …)`. An update is
 * the visitor's answer. A default that grants all `types` counts once its `wait_for_update` has passed without an update. If a
 * default denies a type, also for a region only, the plugin waits for an update.
 *
 * @throws TypeError if `types` is empty or no list
 * @example createTracker({ baseUrl: '/clew', consent: 'required', plugins: [consentMode()] })
 */
export const consentMode = ({
  types = ['analytics_storage'],
  dataLayer = 'dataLayer',
}: ConsentModeOptions = {}): Plugin => {
  checkList('types', types);
  return followConsent((answer) => {
    const updated: Record<string, unknown> = {};
    const defaults: Signals[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const isUpdated = (type: string) => updated[type] !== undefined;
    /** A regional default holds for some visitors only, so that alone it grants nothing. */
    const isDefault = (type: string) =>
      defaults.some((signals) => !signals.region && signals[type] === 'granted') &&
      !defaults.some((signals) => signals[type] === 'denied');
    const isGranted = (type: string) => (isUpdated(type) ? updated[type] === 'granted' : isDefault(type));
    const decide = (isNew = false) => {
      const isAllowed = types.every(isGranted);
      // A default that denies is no answer of the visitor.
      if (isAllowed || types.some((type) => updated[type] === 'denied')) answer(isAllowed, isNew);
    };
    const read = (entry: unknown, isNew?: boolean) => {
      // The `length` of another entry may be that of a video.
      const { 0: command, 1: kind, 2: signals } = Object(entry);
      if (command !== 'consent' || typeof signals !== 'object' || !signals) return;
      if (kind === 'default') {
        defaults.push(signals as Signals);
        clearTimeout(timer);
        timer = setTimeout(
          () => decide(),
          Math.max(0, ...defaults.map(({ wait_for_update: wait }) => Number(wait) || 0)),
        );
      }
      if (kind !== 'update') return;
      clearTimeout(timer);
      Object.assign(updated, signals);
      decide(isNew);
    };

    let restore = () => {};
    const attach = (layer: unknown[]) => {
      const { push } = layer;
      const patched = (...entries: unknown[]) => {
        const length = push.apply(layer, entries);
        for (const entry of entries) read(entry, true);
        return length;
      };
      let isOver = false;
      layer.push = (...entries) => (isOver ? push.apply(layer, entries) : patched(...entries));
      const mine = layer.push;
      restore = () => {
        isOver = true;
        // Google Tag Manager may have patched over it.
        if (layer.push === mine) layer.push = push;
      };
      for (const entry of [...layer]) read(entry);
    };
    const layerOf = () => {
      const layer = (window as unknown as Record<string, unknown>)[dataLayer];
      return Array.isArray(layer) ? layer : undefined;
    };
    let current: unknown[] | undefined;
    let looking: ReturnType<typeof setInterval> | undefined;
    const look = () => {
      const layer = layerOf();
      if (!layer || layer === current) return;
      restore();
      current = layer;
      attach(layer);
    };
    const stop = whenThere(layerOf, () => {
      look();
      looking = setInterval(look, LOOK);
    });
    return () => {
      stop();
      clearInterval(looking);
      clearTimeout(timer);
      restore();
    };
  });
};
