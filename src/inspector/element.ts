import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { type Chart, createChart } from './chart.js';
import { eventsView } from './eventsView.js';
import { download, exported } from './exported.js';
import { handleView } from './handleView.js';
import { headerView } from './headerView.js';
import type { Model } from './model.js';
import { requestsView } from './requestsView.js';
import { type Session, watch } from './session.js';
import { senderChip, stateView } from './stateView.js';
import { base } from './styles/base.js';
import { frame } from './styles/frame.js';
import { lists } from './styles/lists.js';
import { plot } from './styles/plot.js';
import type { Inspectable } from './subject.js';
import { LABELS, tabsView } from './tabsView.js';
import { PAGE, PARTS, type Part, type Ui } from './ui.js';

/** Ms between two drawings of what a tracker tells: as often as an eye can follow, and in a burst a page's own work goes ahead. */
const PAUSE = 100;
/** Px of width from which all parts have room beside each other. */
const WIDE = 1000;

/** Shows what its `tracker` does, for as long as it is in a page. */
class ClewInspector extends LitElement {
  static override readonly styles = [base, frame, lists, plot];
  /** A page may have set it before it has loaded the module. */
  static override readonly properties = { tracker: { attribute: false, noAccessor: true } };
  #tracker: Inspectable | undefined;
  #session: Session | undefined;
  #chart: Chart | undefined;
  #isNarrow = false;
  #ticking: ReturnType<typeof setInterval> | undefined;
  #pausing: ReturnType<typeof setTimeout> | undefined;
  #drawnAt = 0;
  readonly #sizes = new ResizeObserver(([entry]) => {
    if (!entry) return;
    this.#isNarrow = entry.contentRect.width < WIDE;
    this.requestUpdate();
  });
  readonly #ui: Ui = {
    opened: new Set(),
    shown: PAGE,
    filter: '',
    part: 'events',
    isCollapsed: false,
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
    this.#start();
    this.#sizes.observe(this);
    // Time goes on in countdowns and in the chart although nothing happens.
    this.#ticking = setInterval(this.#ui.changed, 1000);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#sizes.disconnect();
    clearInterval(this.#ticking);
    this.#stop();
    this.#endChart();
  }

  #start(): void {
    if (this.#tracker) this.#session = watch(this.#tracker, this.#heard);
    this.requestUpdate();
  }

  #stop(): void {
    clearTimeout(this.#pausing);
    this.#pausing = undefined;
    this.#session?.stop();
    this.#session = undefined;
  }

  #endChart(): void {
    this.#chart?.destroy();
    this.#chart = undefined;
  }

  readonly #heard = () => {
    const draw = () => {
      this.#pausing = undefined;
      this.requestUpdate();
    };
    this.#pausing ??= setTimeout(draw, Math.max(this.#drawnAt + PAUSE - performance.now(), 0));
  };

  /** However much there is to draw: once for each frame that is seen. */
  override async scheduleUpdate(): Promise<void> {
    await new Promise(requestAnimationFrame);
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

  #viewOf(part: Part, model: Model, now: number): TemplateResult {
    if (part === 'events') return eventsView(model, this.#ui);
    return part === 'requests' ? requestsView(model, now) : stateView(model, now);
  }

  #parts(model: Model, now: number): TemplateResult {
    if (!this.#isNarrow)
      return html`<div class="parts">
        ${PARTS.map((part) => html`<section class="part" aria-label=${LABELS[part]} tabindex="0">${this.#viewOf(part, model, now)}</section>`)}
      </div>`;
    const { part } = this.#ui;
    return html`${tabsView(this.#ui, senderChip(model, now))}
      <div class="parts">
        <div class="part" role="tabpanel" id="panel" aria-labelledby="tab-${part}" tabindex="0">${this.#viewOf(part, model, now)}</div>
      </div>`;
  }

  override render(): TemplateResult {
    const { isCollapsed } = this.#ui;
    const model = this.#session?.model;
    const now = Date.now();
    const isDocked = this.hasAttribute('docked');
    const actions = { save: this.#save, ...(isDocked && { collapse: this.#collapse }), close: this.#close };
    return html`<section class="inspector ${this.#isNarrow ? 'is-narrow' : ''}" aria-label="clew inspector">
      ${isDocked && !isCollapsed ? handleView(this, this.#ui) : nothing} ${headerView(model, now, isCollapsed, actions)}
      ${model && !isCollapsed ? this.#parts(model, now) : nothing}
    </section>`;
  }

  override updated(): void {
    const host = this.renderRoot.querySelector<HTMLElement>('.chart');
    if (!host || !this.#session) {
      this.#endChart();
      return;
    }
    if (!host.firstChild) {
      this.#endChart();
      this.#chart = createChart(host, (part) => this.#colourOf(part));
    }
    this.#chart?.draw(this.#session.model.seconds, Date.now());
  }

  /** A canvas knows no custom properties: what they come to is asked of an element that has them. */
  #colourOf(part: 'tracked' | 'queued' | 'line'): string {
    const probe = this.renderRoot.querySelector(`.colour-${part}`) ?? this;
    return getComputedStyle(probe).color;
  }
}

/** Makes the element known to the page, once. */
export const define = (): void => {
  if (!customElements.get('clew-inspector')) customElements.define('clew-inspector', ClewInspector);
};
