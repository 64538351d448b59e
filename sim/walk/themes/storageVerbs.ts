import { MOST_STORED } from '../../browser/browser.ts';
import type { Refusal } from '../../browser/page.ts';
import { forgetBrokenOff } from '../losses.ts';
import type { Stage, VerbsOf } from '../stage.ts';
import { noteWeather } from '../weather.ts';

/** Faults of a browser's storage and clock. */
export type StorageAction =
  | { readonly verb: 'fillDisk'; readonly isFull: boolean }
  /** Most characters that localStorage stores from now on. Undefined: as many as in a browser. */
  | { readonly verb: 'limitStorage'; readonly most: number | undefined }
  /** The storage that the browser refuses to each page that loads from now on. */
  | { readonly verb: 'refuseStorage'; readonly refusal: Refusal }
  /** How long (ms) `indexedDB.open` gets no answer. Undefined: for ever. */
  | { readonly verb: 'hangOpens'; readonly ms: number | undefined }
  | { readonly verb: 'closeConnections' }
  | { readonly verb: 'setClock'; readonly ms: number };

export const storageVerbs: VerbsOf<StorageAction> = {
  fillDisk({ browser, world }, { isFull }) {
    world.log('disk', () => (isFull ? 'is full' : 'has room again'));
    browser.disk.isFull = isFull;
  },
  limitStorage({ browser, world }, { most = MOST_STORED }) {
    world.log('browser', () => `localStorage takes ${most} characters`);
    browser.storageLimits.most = most;
  },
  refuseStorage({ browser, world }, { refusal }) {
    world.log('browser', () => `refuses new pages: ${refusal}`);
    browser.refusal = refusal;
  },
  hangOpens(stage, { ms = Number.POSITIVE_INFINITY }) {
    const { browser, world } = stage;
    world.log('disk', () => `open hangs for ${ms} ms`);
    browser.disk.hangsUntil = world.scheduler.now() + ms;
    if (Number.isFinite(ms)) world.scheduler.after(ms, 'open goes on', () => noteWeather(stage));
  },
  closeConnections(stage) {
    stage.world.log('browser', () => 'closes all connections to the database');
    stage.history.disk(false);
    stage.browser.disk.disconnectAll();
    forgetBrokenOff(stage);
  },
  setClock({ history, world }, { ms }) {
    world.log('visitor', () => `sets the clock ${ms / 60_000} min ahead`);
    history.jump(ms);
    world.skew += ms;
  },
};

/** Ends the faults of storage. The clock stays as it is. */
export const recoverStorage = ({ browser }: Stage): void => {
  browser.disk.isFull = false;
  browser.disk.hangsUntil = 0;
  browser.storageLimits.most = MOST_STORED;
  browser.refusal = 'nothing';
};
