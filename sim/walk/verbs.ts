import { isLoaded } from '../browser/page.ts';
import { FAIR } from '../server/network.ts';
import { findErased } from './boundChecks.ts';
import { giveConsent } from './consent.ts';
import { forgetCrashed, forgetDeleted, forgetKilled } from './losses.ts';
import { npmVerbs } from './npm/verbs.ts';
import type { Action } from './plan.ts';
import type { Stage, VerbsOf } from './stage.ts';
import { callsVerbs } from './themes/callsVerbs.ts';
import { foreignVerbs } from './themes/foreignVerbs.ts';
import { pagesVerbs } from './themes/pagesVerbs.ts';
import { storageVerbs } from './themes/storageVerbs.ts';
import { tokensVerbs } from './themes/tokensVerbs.ts';
import { upstreamVerbs } from './themes/upstreamVerbs.ts';
import { UNSAVED } from './unsaved.ts';
import { flush, goBack, identify, leave, openTab, pageAt, reset, setProperties, tabAt, track } from './visitor.ts';
import { holdDatabase, noteWeather } from './weather.ts';

const CONDITIONS = {
  fair: FAIR,
  slow: { ...FAIR, latency: [500, 9000] },
  lossy: { ...FAIR, lostBefore: 0.2, lostAfter: 0.3, cut: 0.1 },
  foreign: { ...FAIR, foreign: { status: 200, headers: { 'Content-Type': 'text/html' }, text: '<!doctype html>' } },
  hangs: { ...FAIR, hangs: true },
} as const;

type Verbs = VerbsOf<Action>;

const verbs: Verbs = {
  open: openTab,
  close: (stage, { tab }) => leave(stage, tabAt(stage, tab), true),
  navigate: (stage, { tab }) => leave(stage, tabAt(stage, tab)),
  back: (stage, { tab }) => goBack(stage, tabAt(stage, tab)),
  track: (stage, { tab, count, name, size }) => track(stage, pageAt(stage, tab), count, name, size),
  trackAndLeave(stage, { tab, count, size }) {
    track(stage, pageAt(stage, tab), count, 'walk', size);
    leave(stage, tabAt(stage, tab));
  },
  identify: (stage, { tab, person, isForged }) => identify(stage, pageAt(stage, tab), person, isForged),
  identifyAndLeave(stage, { tab, person }) {
    identify(stage, pageAt(stage, tab), person);
    leave(stage, tabAt(stage, tab));
  },
  reset: (stage, { tab }) => reset(stage, pageAt(stage, tab)),
  resetAndLeave(stage, { tab }) {
    reset(stage, pageAt(stage, tab));
    leave(stage, tabAt(stage, tab));
  },
  consent: (stage, { tab, isGranted }) => giveConsent(stage, pageAt(stage, tab), isGranted),
  refuseAndGrant(stage, { tab }) {
    giveConsent(stage, pageAt(stage, tab), false);
    giveConsent(stage, pageAt(stage, tab), true);
  },
  refuseAndLeave(stage, { tab }) {
    giveConsent(stage, pageAt(stage, tab), false);
    leave(stage, tabAt(stage, tab));
  },
  leaveAndGrant(stage, { tab }) {
    const page = pageAt(stage, tab);
    leave(stage, tabAt(stage, tab));
    giveConsent(stage, page, true);
  },
  setProperties: (stage, { tab }) => setProperties(stage, pageAt(stage, tab)),
  setPropertiesAndLeave(stage, { tab }) {
    setProperties(stage, pageAt(stage, tab));
    leave(stage, tabAt(stage, tab));
  },
  flush: (stage, { tab }) => flush(stage, pageAt(stage, tab)),
  hide: (stage, { tab }) => stage.browser.show(pageAt(stage, tab), false),
  show(stage, { tab }) {
    stage.history.stir();
    stage.browser.show(pageAt(stage, tab), true);
  },
  crash(stage, { tab }) {
    const page = pageAt(stage, tab);
    stage.history.depart({ page: page.name, kind: 'crashes', isLoaded: isLoaded(page) });
    stage.browser.crash(page);
    stage.ledger.doubt(UNSAVED.crash);
    forgetCrashed(stage, page);
  },
  kill(stage) {
    for (const page of stage.browser.pages)
      if (page.state === 'running' || page.isFrozen)
        stage.history.depart({ page: page.name, kind: 'crashes', isLoaded: isLoaded(page) });
    for (const key of stage.browser.kill()) stage.history.revive(key);
    stage.ledger.doubt(UNSAVED.kill);
    stage.tabs.length = 0;
    forgetKilled(stage);
  },
  offline: ({ browser }) => browser.setOnline(false),
  online({ browser, history }) {
    history.stir();
    browser.setOnline(true);
  },
  restartRelay({ relay, otherRelay, history }) {
    history.network(false);
    relay?.restart();
    otherRelay?.restart();
  },
  clearDatabase(stage) {
    stage.world.log('site', () => 'deletes its IndexedDB');
    stage.history.disk(false);
    const stored = stage.inDatabase();
    stage.history.erase(findErased(stage, stored));
    stage.browser.disk.clear();
    forgetDeleted(stage, stored);
  },
  network({ network, world }, { kind }) {
    world.log('network', () => kind);
    network.conditions = CONDITIONS[kind];
  },
  service({ service, world }, { status, takes, retryAfter: given, retryDate }) {
    const date = retryDate === undefined ? undefined : new Date(world.serverClock() + retryDate * 1000).toUTCString();
    const retryAfter = date ?? given;
    world.log(
      'service',
      () =>
        `from now on answers ${status ?? 'as it should'}${retryAfter === undefined ? '' : `, Retry-After: ${retryAfter}`}`,
    );
    service.mood = {
      takes,
      ...(status !== undefined && { status }),
      ...(retryAfter !== undefined && { retryAfter }),
    };
  },
  busyDatabase: (stage, { ms }) => holdDatabase(stage, ms),
  slowDisk({ browser }, { isSlow }) {
    browser.disk.speed = isSlow ? [5, 60] : [0.05, 1];
  },
  ...npmVerbs,
  ...storageVerbs,
  ...pagesVerbs,
  ...callsVerbs,
  ...tokensVerbs,
  ...upstreamVerbs,
  ...foreignVerbs,
};

/** Performs the action of a step, between two tasks. */
export const act = (stage: Stage, action: Action): void => {
  const verb = verbs[action.verb] as (stage: Stage, action: Action) => void;
  stage.acts.push({ at: stage.world.scheduler.now(), verb: action.verb });
  verb(stage, action);
  noteWeather(stage);
};
