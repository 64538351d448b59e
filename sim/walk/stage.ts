import { type Browser, createBrowser } from '../browser/browser.ts';
import type { Page } from '../browser/page.ts';
import type { Scripts } from '../bundle.ts';
import { OTHER } from '../server/addresses.ts';
import { createNetwork, type Network } from '../server/network.ts';
import { createSimulatedRelay, SERVICE_URL, type SimulatedRelay } from '../server/relay.ts';
import { createService, type Service } from '../server/service.ts';
import type { World } from '../world/world.ts';
import { type Consent, createConsent, giveConsent } from './consent.ts';
import { createSignalLog, endsIn, type SignalLog } from './emitted.ts';
import { createHistory, type History } from './history.ts';
import { createLedger, type Ledger } from './ledger.ts';
import { type App, accountsOf, createApp } from './npm/app.ts';
import { type Action, type Plan, proofOf } from './plan.ts';
import { createStoring, type Storing } from './stored.ts';

/** How long (ms) a message may take to another tab. Without BroadcastChannel a tab learns of a change when it loads. */
export const MESSAGE_TRAVEL = 250;

export interface Tab {
  page: Page | undefined;
  /** Pages in the back/forward cache, the latest last. */
  readonly cached: Page[];
  readonly sessionStorage: Map<string, string>;
  /** The page that the browser has prerendered for it. */
  prerendered?: Page | undefined;
}

/** The result of a call's promise. */
export type Promised =
  /** `trackNow` has resolved at this time. `isAlone`: no other page was open, at the call or at this time. */
  | { readonly kind: 'sent'; readonly n: number; readonly at: number; readonly isAlone: boolean }
  /** `correlationValue` has resolved to this id, and the page has tracked an event at once. */
  | { readonly kind: 'id'; readonly n: number; readonly id: string; readonly called: number; readonly at: number };

/** All parts of one walk. */
export interface Stage extends Storing {
  readonly world: World;
  readonly plan: Plan;
  readonly browser: Browser;
  readonly network: Network;
  /** Carries the requests of relays to the service. */
  readonly inner: Network;
  readonly service: Service;
  readonly relay: SimulatedRelay | undefined;
  /** The relay of the second tracker. */
  readonly otherRelay: SimulatedRelay | undefined;
  readonly app: App;
  /** The actions of the walk, with the virtual time (ms) of each. */
  readonly acts: { readonly at: number; readonly verb: Action['verb'] }[];
  readonly ledger: Ledger;
  /** Ids of events that pages have reported as dropped. */
  readonly dropped: Set<string>;
  /** The signals `delivered` and `dropped` of all pages. */
  readonly signals: SignalLog;
  readonly history: History;
  readonly consent: Consent;
  readonly tabs: Tab[];
  /** Names of pages whose transaction blocks the database. */
  readonly holders: Set<string>;
  readonly promised: Promised[];
  /** The pending promises of `flush`, `trackNow` and `correlationValue`, with the page and the time (ms) of each call. */
  readonly flushes: Map<object, { readonly page: Page; readonly at: number }>;
  /** Loads a page in the tab. After the stub, the bundle runs a moment later, as an async script does. */
  load(tab: Tab, isPrerendering?: boolean): Page;
}

/** The function that performs each verb of these actions. */
export type VerbsOf<A extends { readonly verb: string }> = {
  readonly [V in A['verb']]: (stage: Stage, action: Extract<A, { verb: V }>) => void;
};

interface EndedEvent {
  readonly uuid?: string;
  readonly event?: string;
  readonly correlationValue?: string;
  readonly payload?: { readonly n?: number; readonly distinct_id?: string };
}

export const createStage = (world: World, scripts: Scripts, plan: Plan): Stage => {
  const service = createService(world);
  // `network` carries the requests of pages, and has the walk's faults. `inner` carries the requests of relays, and has faults in the theme `upstream`.
  const servers: Record<string, Parameters<typeof createNetwork>[1][string]> = { [SERVICE_URL]: service.serve };
  const network = createNetwork(world, servers);
  const inner = createNetwork(world, servers);
  const relay = plan.isDirect ? undefined : createSimulatedRelay(world, scripts.relay, inner, { proof: proofOf(plan) });
  if (relay) servers['/clew'] = relay.serve;
  const otherRelay =
    relay && plan.npm?.hasOther
      ? createSimulatedRelay(world, scripts.relay, inner, { name: 'other', baseUrl: SERVICE_URL + OTHER })
      : undefined;
  if (otherRelay) servers[OTHER] = otherRelay.serve;
  const browser = createBrowser(world, network, plan.features);
  const travel = plan.features.hasChannel ? MESSAGE_TRAVEL : Number.POSITIVE_INFINITY;
  const ledger = createLedger(world.scheduler, travel);
  const history = createHistory(world.scheduler, () => network.requests.length);
  const consent = createConsent(world.scheduler, ledger, history, travel, network, browser);
  const app = createApp(world, ledger, plan, scripts, () => relay?.key() ?? 0);

  const signals = createSignalLog();
  const noteEnds = (page: Page, events: readonly EndedEvent[], reason?: string) => {
    for (const { uuid = '', event, payload, correlationValue } of events)
      signals.note({
        page: page.name,
        uuid,
        event,
        n: payload?.n,
        visitorId: correlationValue,
        at: world.scheduler.now(),
        reason,
      });
  };
  const listen = (page: Page) => {
    signals.begin(page.name, endsIn(accountsOf(page).map(({ stats }) => stats)));
    page.clew()?.('on', 'delivered', ({ events }: { events: EndedEvent[] }) => noteEnds(page, events));
    page.clew()?.('on', 'dropped', ({ events, reason }: { events: EndedEvent[]; reason: string }) => {
      noteEnds(page, events, reason);
      for (const { uuid = '', payload } of events) {
        stage.dropped.add(uuid);
        if (payload?.distinct_id) history.refuse({ page: page.name, person: payload.distinct_id, reason });
        const entry = ledger.tracked.get(payload?.n ?? 0);
        if (entry) Object.assign(entry, { dropped: reason, droppedAt: world.scheduler.now() });
      }
      world.log(page.name, () => `dropped ${events.map(({ payload }) => payload?.n)}: ${reason}`);
    });
    page.clew()?.('on', 'error', ({ message }: Error) => {
      if (message.includes('no storage')) history.shut.add(page.name);
      if (message.includes('setProperties: full')) history.overflow(page.name);
      world.log(page.name, () => `error: ${message}`);
    });
  };

  const stage: Stage = {
    world,
    plan,
    browser,
    network,
    inner,
    service,
    relay,
    otherRelay,
    app,
    acts: [],
    dropped: new Set(),
    ledger,
    signals,
    history,
    consent,
    tabs: [],
    holders: new Set(),
    flushes: new Map(),
    promised: [],
    ...createStoring(browser),
    load(tab, isPrerendering = false) {
      const page = browser.open({ dataset: plan.dataset, sessionStorage: tab.sessionStorage, isPrerendering });
      if (isPrerendering) tab.prerendered = page;
      else tab.page = page;
      world.log(page.name, () => (isPrerendering ? 'is prerendered' : 'loads'));
      history.load(page.name);
      if (page.refusal !== 'nothing') history.refused.add(page.name);
      history.stir();
      if (plan.hasStub) page.guard(() => void page.run(scripts.stub));
      const evaluate = () => {
        app.start(page);
        history.stir();
        listen(page);
        // Consent platforms pass the answer to each page.
        const answer = consent.answers.at(-1);
        consent.replay(page.name);
        if (answer) giveConsent(stage, page, answer.isGranted);
      };
      // Without the stub, a page cannot call clew before the bundle has loaded.
      if (plan.hasStub)
        world.scheduler.after(world.random.between(0, 60), `${page.name} bundle`, evaluate, { owner: page });
      else evaluate();
      return page;
    },
  };
  return stage;
};
