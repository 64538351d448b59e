import { MOST_STORED } from '../../browser/browser.ts';
import type { Refusal } from '../../browser/page.ts';
import { forgetBrokenOff } from '../losses.ts';
import type { Stage, VerbsOf } from '../stage.ts';
import { noteWeather } from '../weather.ts';

/** Trouble with what a browser stores, and with its clock. */
export type StorageAction =
  | { readonly verb: 'fillDisk'; readonly isFull: boolean }
  /** Characters that localStorage takes from now on; undefined: as many as a browser takes. */
  | { readonly verb: 'limitStorage'; readonly most: number | undefined }
  /** Pages that load from now on may not use it as long as they live. */
  | { readonly verb: 'refuseStorage'; readonly refusal: Refusal }
  /** For so long (ms) no `indexedDB.open` is answered; without `ms` for ever. */
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

/** The browser stores again what pages ask for, and answers all of them. The clock stays as it is. */
export const recoverStorage = ({ browser }: Stage): void => {
  browser.disk.isFull = false;
  browser.disk.hangsUntil = 0;
  browser.storageLimits.most = MOST_STORED;
  browser.refusal = 'nothing';
};
