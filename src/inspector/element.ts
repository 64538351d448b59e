import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { type Chart, type Colours, createChart } from './chart.js';
import { eventsView } from './eventsView.js';
import { download, exported } from './exported.js';
import { handleView, mostHeight } from './handleView.js';
import { headerView } from './headerView.js';
import type { Model } from './model.js';
import { nameOf, placeDocked } from './places.js';
import { requestsView } from './requestsView.js';
import { sizeRests } from './restView.js';
import { type Session, watch } from './session.js';
import { senderChip, stateView } from './stateView.js';
import { base } from './styles/base.js';
import { frame } from './styles/frame.js';
import { lists } from './styles/lists.js';
import { plot } from './styles/plot.js';
import type { Inspectable } from './subject.js';
import { LABELS, tabsView } from './tabsView.js';
import { PAGE, PARTS, type Part, type Ui } from './ui.js';

/** Least time (ms) between two drawings: an event after a pause is drawn at once, and in a burst the page's own work goes ahead. */
const PAUSE = 250;
/** Px of width from which all parts have room beside each other. */
const WIDE = 1000;

/** The inspectors in the page, in the order in which they were opened. */
const opened = new Set<ClewInspector>();

/** Gives the inspectors their places and names. */
const arrange = (): void => {
  placeDocked([...opened].filter((inspector) => inspector.hasAttribute('docked')));
  for (const inspector of opened) inspector.requestUpdate();
};

/** Shows what its `tracker` does, for as long as it is in a page. */
class ClewInspector extends LitElement {
  static override readonly styles = [base, frame, lists, plot];
  /** A page may have set it before it has loaded the module. */
  static override readonly properties = { tracker: { attribute: false, noAccessor: true } };
  #tracker: Inspectable | undefined;
  #session: Session | undefined;
  #chart: Chart | undefined;
  #colours: Colours = { tracked: '', queued: '', line: '' };
  #isNarrow = false;
  #ticking: ReturnType<typeof setInterval> | undefined;
  #pausing: ReturnType<typeof setTimeout> | undefined;
  #drawnAt = 0;
  readonly #sizes = new ResizeObserver(([entry]) => {
    if (!entry) return;
    this.#isNarrow = entry.contentRect.width < WIDE;
    this.#ui.height = Math.round(entry.borderBoxSize[0]?.blockSize ?? entry.contentRect.height);
    this.#viewportResized();
  });
  readonly #ui: Ui = {
    opened: new Set(),
    focused: undefined,
    shown: PAGE,
    filter: '',
    part: 'events',
    isCollapsed: false,
    scrolled: { events: 0, requests: 0, state: 0 },
    height: 0,
    mostHeight: 0,
    changed: () => this.requestUpdate(),
  };

  get tracker(): Inspectable | undefined {
    return this.#tracker;
  }
  set tracker(tracker) {
    this.#stop();
    this.#tracker = tracker;
    if (this.isConnected) this.#start();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    opened.add(this);
    arrange();
    this.#start();
    this.#sizes.observe(this);
    window.addEventListener('resize', this.#viewportResized);
    // Time goes on in countdowns and in the chart although nothing happens.
    this.#ticking = setInterval(this.#tick, 1000);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    opened.delete(this);
    arrange();
    this.#sizes.disconnect();
    window.removeEventListener('resize', this.#viewportResized);
    clearInterval(this.#ticking);
    this.#stop();
    this.#endChart();
  }

  #start(): void {
    if (this.#tracker) this.#session = watch(this.#tracker, this.#drawSoon);
    this.requestUpdate();
  }

  #stop(): void {
    clearTimeout(this.#pausing);
    this.#pausing = undefined;
    this.#session?.stop();
    this.#session = undefined;
  }

  readonly #viewportResized = () => {
    this.#ui.mostHeight = mostHeight();
    this.requestUpdate();
  };

  readonly #tick = () => {
    // The scheme may have changed.
    if (this.#chart) this.#colours = this.#readColours();
    this.#drawChart();
    this.#drawSoon();
  };

  #endChart(): void {
    this.#chart?.destroy();
    this.#chart = undefined;
  }

  readonly #drawSoon = () => {
    const draw = () => {
      this.#pausing = undefined;
      this.requestUpdate();
    };
    this.#pausing ??= setTimeout(draw, Math.max(this.#drawnAt + PAUSE - performance.now(), 0));
  };

  /** However much there is to draw: once for each frame that is seen. */
  override async scheduleUpdate(): Promise<void> {
    await new Promise(requestAnimationFrame);
    // This drawing also shows the signals since it was requested.
    clearTimeout(this.#pausing);
    this.#pausing = undefined;
    this.#drawnAt = performance.now();
    this.#session?.look();
    super.scheduleUpdate();
  }

  readonly #save = () => {
    if (!this.#session) return;
    const now = Date.now();
    const text = JSON.stringify(exported(this.#session.model, now), undefined, 2);
    download(`clew-${new Date(now).toISOString().replace(/[:.]/g, '-')}.json`, text);
  };

  readonly #collapse = () => {
    this.#ui.isCollapsed = !this.#ui.isCollapsed;
    this.toggleAttribute('collapsed', this.#ui.isCollapsed);
    this.requestUpdate();
  };

  readonly #close = () => {
    this.remove();
    this.dispatchEvent(new Event('close'));
  };

  #scrolled(part: Part): (event: Event) => void {
    return ({ currentTarget }) => {
      const { scrollTop } = currentTarget as Element;
      // A narrow inspector has one element for all parts.
      for (const one of this.#isNarrow ? PARTS : [part]) this.#ui.scrolled[one] = scrollTop;
      this.requestUpdate();
    };
  }

  #viewOf(part: Part, model: Model, now: number): TemplateResult {
    if (part === 'events') return eventsView(model, this.#ui);
    return part === 'requests' ? requestsView(model, this.#ui, now) : stateView(model, now);
  }

  #parts(model: Model, now: number): TemplateResult {
    if (!this.#isNarrow)
      return html`<div class="parts">
        ${PARTS.map((part) => html`<section class="part" aria-label=${LABELS[part]} tabindex="0" @scroll=${this.#scrolled(part)}>${this.#viewOf(part, model, now)}</section>`)}
      </div>`;
    const { part } = this.#ui;
    return html`${tabsView(this.#ui, senderChip(model, now))}
      <div class="parts">
        <div class="part" role="tabpanel" id="panel" aria-labelledby="tab-${part}" tabindex="0" @scroll=${this.#scrolled(part)}>${this.#viewOf(part, model, now)}</div>
      </div>`;
  }

  override render(): TemplateResult {
    const { isCollapsed } = this.#ui;
    const model = this.#session?.model;
    const now = Date.now();
    const isDocked = this.hasAttribute('docked');
    const name = nameOf([...opened].indexOf(this));
    this.#ui.focused = this.shadowRoot?.activeElement?.closest('li')?.dataset.uuid;
    const actions = { save: this.#save, ...(isDocked && { collapse: this.#collapse }), close: this.#close };
    return html`<section class="inspector ${this.#isNarrow ? 'is-narrow' : ''}" aria-label=${name}>
      ${isDocked && !isCollapsed ? handleView(this, this.#ui) : nothing} ${headerView(name, model, now, isCollapsed, actions)}
      ${model && !isCollapsed ? this.#parts(model, now) : nothing}
    </section>`;
  }

  override updated(): void {
    sizeRests(this.renderRoot as ShadowRoot);
    const host = this.renderRoot.querySelector<HTMLElement>('.chart');
    if (!host || !this.#session) {
      this.#endChart();
      return;
    }
    if (!host.firstChild) {
      this.#endChart();
      this.#colours = this.#readColours();
      this.#chart = createChart(host, (part) => this.#colours[part]);
      this.#drawChart();
    }
  }

  /**
   * Chromium lays out the page before a canvas draws text. So the chart is drawn in a task of its own, when the browser has laid out
   * the rows already. The chart is drawn once a second, because its values are of whole seconds.
   */
  #drawChart(): void {
    if (this.#session) this.#chart?.draw(this.#session.model.seconds, Date.now());
  }

  /**
   * A canvas knows no custom properties: what they come to is asked of an element that has them. `getComputedStyle` makes the
   * browser lay out all that was drawn before, as styles depend on the size of a container. No drawing asks therefore.
   */
  #readColours(): Colours {
    const colourOf = (part: keyof Colours) =>
      getComputedStyle(this.renderRoot.querySelector(`.colour-${part}`) ?? this).color;
    return { tracked: colourOf('tracked'), queued: colourOf('queued'), line: colourOf('line') };
  }
}

/** Makes the element known to the page, once. */
export const define = (): void => {
  if (!customElements.get('clew-inspector')) customElements.define('clew-inspector', ClewInspector);
};
