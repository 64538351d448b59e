import { html, nothing, svg, type TemplateResult } from 'lit';
import { number } from './format.js';
import { lostIn, type Model } from './model.js';
import { senderOf } from './standing.js';
import { senderChip } from './stateView.js';

const mark = svg`<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true">
  <circle cx="11" cy="11" r="8.5" /><path d="M4.5 8c5-3 9-2 13 1M3 13c5-4 10-3 14.500 1M8 19c1-4 3-9 8-13M18 17c1 2 2 4 5 4" />
</svg>`;

const sumView = ({ stats }: Model): TemplateResult => {
  const lost = lostIn(stats);
  return html`<p class="sum">
    <span><b>${number(stats.tracked)}</b> tracked</span> <span class="soft">=</span>
    <span class="good"><b>${number(stats.delivered)}</b> delivered</span> <span class="soft">+</span>
    <span><b>${number(stats.queued)}</b> queued</span> <span class="soft">+</span>
    <span class=${lost ? 'lost' : ''}><b>${number(lost)}</b> dropped</span>
  </p>`;
};

/** The text for screen readers, which changes rarely. */
const announcement = (model: Model, now: number): string => {
  const { kind } = senderOf(model, now);
  const lost = lostIn(model.stats);
  return [kind === 'waiting' && 'Sending failed: events stay queued until the retry.', lost && `${lost} dropped.`]
    .filter(Boolean)
    .join(' ');
};

/** The actions of the buttons. Only a docked inspector can be collapsed. */
interface Actions {
  save(): void;
  collapse?(): void;
  close(): void;
}

/** The bar at the top: all that is left of one that is collapsed. */
export const headerView = (
  name: string,
  model: Model | undefined,
  now: number,
  isCollapsed: boolean,
  { save, collapse, close }: Actions,
): TemplateResult => html`<header>
  <div class="title">${mark}<h2>${name}</h2></div>
  ${model ? html`${sumView(model)} ${senderChip(model, now)}` : html`<p class="sum soft">No tracker.</p>`}
  <div class="actions">
    <button type="button" @click=${save} ?disabled=${!model}>Export<span class="format"> JSON</span></button>
    ${
      collapse
        ? html`<button type="button" aria-expanded=${!isCollapsed} @click=${collapse}>
            ${isCollapsed ? 'Expand' : 'Collapse'}
          </button>`
        : nothing
    }
    <button type="button" @click=${close}>Close</button>
  </div>
  <p class="unseen" role="status">${model ? announcement(model, now) : ''}</p>
</header>`;
