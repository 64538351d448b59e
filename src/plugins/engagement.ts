import type { Plugin } from '../api/types.js';
import { type Actor, actorOf, isPresent } from './actor.js';
import { attend, beginAttention, type Fact } from './attention.js';
import { checkMs } from './checkMs.js';
import { checkNames } from './checkNames.js';
import { createDrafts } from './drafts.js';
import { depthOf, isAfter, partOf, routeHere, type View, viewHere } from './view.js';

/** Options of `engagement`. */
export interface EngagementOptions {
  /**
   * How long (ms) after the last input the visitor counts as idle.
   *
   * @default 30000
   */
  idleAfter?: number | undefined;
  /**
   * How long (ms) a tab may be hidden before its view is left. With 0, the event is tracked at once, and another one if the visitor
   * returns. With more, a view has one event. If the browser has ended the hidden page, a page that starts after 1.1 times as long
   * tracks the event.
   *
   * @default 0
   */
  hiddenFor?: number | undefined;
  /**
   * A CSS selector of the element that scrolls, for an app that does not scroll the document.
   *
   * @default undefined, the document
   */
  scroller?: string | undefined;
}

/** The event that `engagement` tracks. */
export const LEFT = 'page_left';
/** Where the event of a hidden page is kept. */
const KEY = 'engagement';
const INPUTS = ['pointerdown', 'pointermove', 'keydown', 'wheel'];
/** How long (ms) after its beginning a view is measured that is not scrolled: it may still load. */
const SETTLED = 1000;

/** Notes the actions of the visitor. */
interface Notes {
  note(fact: Fact): void;
  measure(): void;
  hide(): void;
  show(): void;
  /** The page leaves, and may come back from the back/forward cache. */
  end(): void;
  restore(): void;
}

/** Listens to the page, until `listening` is aborted. */
const watch = ({ note, measure, hide, show, end, restore }: Notes, listening: AbortController): void => {
  // Before the page's own listeners, which may stop an event, and before the tracker's, which then sends what is tracked here.
  const options = Object.assign(listening, { capture: true, passive: true });
  const listen = (type: string, listener: (event: Event) => void) => addEventListener(type, listener, options);
  // The focus may be in a frame within the page, which then still has it.
  const look = () => note(!document.hidden && document.hasFocus() ? 'seen' : 'unseen');
  for (const type of INPUTS) listen(type, () => note('input'));
  // A carousel scrolls, too, so it is no input.
  listen('scroll', measure);
  listen('focus', look);
  listen('blur', look);
  listen('visibilitychange', () => {
    look();
    // On a phone, this is often the last event of a page.
    if (document.hidden) hide();
    else show();
  });
  listen('pageshow', (event) => {
    look();
    if ((event as PageTransitionEvent).persisted) restore();
  });
  // After the listeners of `pageViews`, which may start in the same task: it tracks the last view as the page leaves.
  queueMicrotask(() => listen('pagehide', end));
};

/**
 * Creates a plugin that tracks `page_left` when the visitor leaves a view: by another view, by hiding the tab, or by leaving the
 * page. The payload has the view's `url`, `path` and `title`, the `activeTime` (ms) and the `scrollDepth` (percent). Time is active
 * while the page is visible, has the focus and had input not long ago. A visitor who returns to a hidden tab begins another `part`.
 *
 * @throws TypeError if `idleAfter` or `hiddenFor` is no number of ms, and for an unknown option
 * @example createTracker({ baseUrl: '/clew', pageViews: pageViews(), plugins: [engagement({ idleAfter: 60_000 })] })
 */
export const engagement = (options: EngagementOptions = {}): Plugin => {
  checkNames(options, { idleAfter: 1, hiddenFor: 1, scroller: 1 });
  const { idleAfter = 30_000, hiddenFor = 0, scroller } = options;
  checkMs('idleAfter', idleAfter, 1);
  checkMs('hiddenFor', hiddenFor, 0);
  return (tracker, tools) => {
    // An invalid selector throws now, and not when the visitor leaves.
    if (scroller) document.querySelector(scroller);
    const listening = new AbortController();
    const drafts = createDrafts(tools, KEY, LEFT, hiddenFor);
    const now = () => performance.now();
    let attention = beginAttention(now(), !document.hidden && document.hasFocus());
    let view = viewHere(0);
    let viewer: Actor = {};
    /** Whether the view has ended, and no other one has begun. */
    let isAway = false;
    /** Whether the next visitor is about to see the view, also if the view of the one before is tracked only now. */
    let isAnew = false;
    /** Payloads of events that are not tracked yet. */
    const due: object[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;

    const note = (fact: Fact) => {
      attention = attend(attention, now(), fact, idleAfter);
    };
    const measure = () => {
      const element = scroller ? document.querySelector(scroller) : document.scrollingElement;
      // Else the page may show another view already.
      if (element && view.route === routeHere()) view = { ...view, depth: Math.max(view.depth ?? 0, depthOf(element)) };
    };
    const begin = (next: View) => {
      view = next;
      viewer = actorOf(tracker);
      isAway = false;
      clearTimeout(timer);
      timer = setTimeout(measure, SETTLED);
    };
    /** Another visitor sees the same view. */
    const beginAnew = () => {
      view = { ...view, from: attention.active, tracked: 0, parts: 0, depth: undefined, isAnew: true };
      viewer = {};
      isAnew = true;
      // The visitor id may be about to change.
      queueMicrotask(() => {
        isAnew = false;
        viewer = actorOf(tracker);
      });
    };
    const take = () => {
      note('pass');
      if (!isPresent(viewer, tools)) return beginAnew();
      const [next, payload] = partOf(view, attention.active);
      view = next;
      if (payload) due.push(payload);
    };
    const send = () => {
      for (const payload of due.splice(0)) tracker.track(LEFT, payload);
    };
    const show = () => {
      // Another page has tracked it.
      if (!drafts.takeBack()) [view] = partOf(view, attention.active);
    };
    const leave = () => {
      show();
      if (!isAway) {
        measure();
        take();
      }
      send();
    };
    const hide = () => {
      if (!hiddenFor) return leave();
      measure();
      const payload = isAway || !isPresent(viewer, tools) ? undefined : partOf(view, attention.active)[1];
      if (payload) drafts.keep([payload], leave);
    };
    const end = () => {
      leave();
      isAway = true;
    };

    begin(view);
    tools.onTrack(({ event, payload, timestamp }) => {
      // A call that the stub has saved on an earlier page is older than this page.
      const isEarlier = Date.parse(timestamp) < Date.now() - now();
      if (event !== 'page_view' || isEarlier || listening.signal.aborted) return undefined;
      // The first one names the view that the document has begun, unless the plugin has started after it.
      const isNaming = !isAway && !view.isNamed && !isAfter(view, payload);
      if (isAway || isNaming) note('pass');
      else {
        show();
        take();
      }
      const next = { ...viewHere(isNaming ? view.from : attention.active, Object(payload)), isAnew };
      begin(isNaming ? { ...next, tracked: view.tracked, parts: view.parts } : next);
      // Not within the call that tracks the view.
      queueMicrotask(send);
      return undefined;
    });
    watch({ note, measure, hide, show, end, restore: () => isAway && begin(viewHere(attention.active)) }, listening);
    if (hiddenFor) drafts.trackOthers(tracker, listening);
    const off = tracker.on('change', () => {
      leave();
      beginAnew();
    });
    return () => {
      leave();
      clearTimeout(timer);
      off();
      listening.abort();
    };
  };
};
