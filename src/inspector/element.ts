import { html, LitElement, nothing, svg, type TemplateResult } from 'lit';
import { type Chart, createChart } from './chart.js';
import { eventsView } from './eventsView.js';
import { download, exported } from './exported.js';
import { number } from './format.js';
import { handleView } from './handleView.js';
import type { Model } from './model.js';
import { requestsView } from './requestsView.js';
import { type Session, watch } from './session.js';
import { senderOf } from './standing.js';
import { senderChip, stateView } from './stateView.js';
import { styles } from './styles.js';
import type { Inspectable } from './subject.js';
import { LABELS, tabsView } from './tabsView.js';
import { PAGE, PARTS, type Part, type Ui } from './ui.js';

/** Px of width from which all parts have room beside each other. */
const WIDE = 1000;

const mark = svg`<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true">
  <circle cx="11" cy="11" r="8.5" /><path d="M4.5 8c5-3 9-2 13 1M3 13c5-4 10-3 14.500 1M8 19c1-4 3-9 8-13M18 17c1 2 2 4 5 4" />
</svg>`;

const sumView = ({ stats }: Model): TemplateResult => {
  const lost = Object.values(stats.dropped).reduce((sum, count) => sum + count, 0);
  return html`<p class="sum">
    <span><b>${number(stats.tracked)}</b> tracked</span> <span class="soft">=</span>
    <span class="good"><b>${number(stats.delivered)}</b> delivered</span> <span class="soft">+</span>
    <span><b>${number(stats.queued)}</b> queued</span> <span class="soft">+</span>
    <span class=${lost ? 'lost' : ''}><b>${number(lost)}</b> dropped</span>
  </p>`;
};

/** What a person who does not look is told: only what changes rarely. */
const announcement = (model: Model, now: number): string => {
  const { kind } = senderOf(model, now);
  const lost = Object.values(model.stats.dropped).reduce((sum, count) => sum + count, 0);
  return [kind === 'waiting' && 'The service cannot be reached: events wait.', lost && `${lost} dropped.`]
    .filter(Boolean)
    .join(' ');
};

/** Shows what its `tracker` does, for as long as it is in a page. */
class ClewInspector extends LitElement {
  static override readonly styles = styles;
  #tracker: Inspectable | undefined;
  #session: Session | undefined;
  #chart: Chart | undefined;
  #isNarrow = false;
  #ticking: ReturnType<typeof setInterval> | undefined;
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
    if (this.#tracker) this.#session = watch(this.#tracker, this.#ui.changed);
    this.requestUpdate();
  }

  #stop(): void {
    this.#session?.stop();
    this.#session = undefined;
  }

  #endChart(): void {
    this.#chart?.destroy();
    this.#chart = undefined;
  }

  /** However much happens: once for each frame that is seen. */
  override async scheduleUpdate(): Promise<void> {
    await new Promise(requestAnimationFrame);
    this.#session?.look();
    super.scheduleUpdate();
  }

  readonly #export = () => {
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
    const isTabbed = this.#isNarrow && !isCollapsed;
    return html`<section class="inspector ${this.#isNarrow ? 'is-narrow' : ''}" aria-label="clew inspector">
      ${isDocked && !isCollapsed ? handleView(this, this.#ui) : nothing}
      <header>
        <div class="title">${mark}<h2>clew inspector</h2></div>
        ${model ? sumView(model) : html`<p class="sum soft">No tracker.</p>`}
        ${model && !isTabbed ? senderChip(model, now) : nothing}
        <div class="actions">
          <button type="button" @click=${this.#export} ?disabled=${!model}>Export JSON</button>
          ${isDocked ? html`<button type="button" aria-expanded=${!isCollapsed} @click=${this.#collapse}>${isCollapsed ? 'Expand' : 'Collapse'}</button>` : nothing}
          <button type="button" @click=${this.#close}>Close</button>
        </div>
        <p class="unseen" role="status">${model ? announcement(model, now) : ''}</p>
      </header>
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
    this.#chart?.draw(this.#session.model.seconds, Date.now(), host.clientWidth);
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
