import { isLoaded, type Page } from '../../browser/page.ts';
import type { Stage, VerbsOf } from '../stage.ts';
import { depart, flush, identify, identifyBy, leave, pageAt, track, trackBy } from '../visitor.ts';
import type { NpmAction, Reaction } from './actions.ts';
import { firstOf, hasOther, otherOf } from './app.ts';

/** Number of reports to which a listener reacts. */
const MOST_REACTIONS = 3;

const trackOther = (stage: Stage, page: Page, count: number): void =>
  trackBy(stage, page, otherOf(page), { count, isOther: hasOther(page) });

/** Identifies a person at one service, and later at the other one, unless the person has changed or the page is gone. */
const identifyInTurn = (stage: Stage, page: Page, person: string, ms: number): void => {
  const { ledger, tabs, world } = stage;
  identifyBy(stage, page, firstOf(page), person, hasOther(page) ? false : undefined);
  if (!hasOther(page)) return;
  const end = () => {
    const tab = tabs.find((tab) => tab.page === page);
    if (!tab || ledger.personOf(page.name) !== person) return;
    identifyBy(stage, page, otherOf(page), person, true);
    leave(stage, tab);
  };
  world.scheduler.after(ms, `${page.name} identifies at the other service`, end, { owner: page });
};

/** Longest time (ms) from the end of a page's trackers until it leaves. Meanwhile it need not know of other tabs. */
const LINGERING = 200;

/** The app stops its trackers and tracks again. The page leaves at once, or a moment later. */
const stop = (stage: Stage, page: Page): void => {
  const { history, world, tabs } = stage;
  if (!isLoaded(page)) return;
  history.depart({ page: page.name, kind: 'leaves', isLoaded: true });
  world.log(page.name, () => 'stop');
  stage.history.stop(page.name);
  page.guard(() => void page.clew()?.('stop'));
  track(stage, page, 1);
  const end = () => depart(stage, page, false);
  if (world.random.chance(0.5)) world.scheduler.next(`${page.name} has stopped`, end);
  else world.scheduler.after(world.random.between(0, LINGERING), `${page.name} has stopped`, end, { owner: page });
  const tab = tabs.find((tab) => tab.page === page);
  if (tab) tab.page = undefined;
};

const reactions: Readonly<Record<Reaction, (stage: Stage, page: Page) => void>> = {
  throws() {
    throw new Error('a listener throws');
  },
  tracks: (stage, page) => track(stage, page, 1),
  identifies: (stage, page) => identify(stage, page, 'ann'),
  flushes: flush,
  stops: stop,
};

export const npmVerbs: VerbsOf<NpmAction> = {
  trackOther: (stage, { tab, count }) => trackOther(stage, pageAt(stage, tab), count),
  identifyInTurn: (stage, { tab, person, ms }) => identifyInTurn(stage, pageAt(stage, tab), person, ms),
  trickle(stage, { tab, ms }) {
    const { world, app } = stage;
    const page = pageAt(stage, tab);
    const end = world.scheduler.now() + ms;
    const tick = () => {
      if (world.scheduler.now() > end) return void app.trickling.delete(page);
      track(stage, page, 1);
      world.scheduler.after(world.random.between(50, 400), `${page.name} trickles`, tick, { owner: page });
    };
    app.trickling.add(page);
    tick();
  },
  stop: (stage, { tab }) => stop(stage, pageAt(stage, tab)),
  transport({ app, world }, { kind }) {
    world.log('transport', () => kind);
    app.transport = kind;
  },
  beforeSend({ app, world }, { kind }) {
    world.log('beforeSend', () => kind);
    app.beforeSend = kind;
  },
  listen(stage, { tab, signal, reaction }) {
    const page = pageAt(stage, tab);
    if (!isLoaded(page)) return;
    let left = MOST_REACTIONS;
    stage.world.log(page.name, () => `a listener of ${signal} ${reaction}`);
    page.guard(() => {
      page.clew()?.('on', signal, () => {
        if (left-- > 0) reactions[reaction](stage, page);
      });
    });
  },
};
