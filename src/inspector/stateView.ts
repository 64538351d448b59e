import { html, nothing, type TemplateResult } from 'lit';
import type { DropReason } from '../api/signals.js';
import { clock, countdown, number, plural, short } from './format.js';
import type { Model } from './model.js';
import { consentOf, heldIn, senderOf } from './standing.js';

const REASONS: Record<DropReason, string> = {
  rejected: 'the service or the relay rejected it, or its name is invalid',
  'too-large': 'larger than maxBatchBytes',
  full: 'the queue already held maxQueuedEvents',
  expired: 'too old',
  unserialisable: 'JSON cannot express the payload',
  filtered: 'dropped by beforeSend or a plugin',
  consent: 'the visitor refused consent',
};

const names = (counts: readonly [name: string, count: number][]): string => {
  const shown = counts.slice(0, 4).map(([name, count]) => (count > 1 ? `${name} ×${number(count)}` : name));
  return [...shown, ...(counts.length > 4 ? [`${counts.length - 4} other names`] : [])].join(', ');
};

const queue = (model: Model): TemplateResult => {
  const { memory, stored, inMemory, inStore, unknown } = heldIn(model);
  return html`<h4>Queue</h4>
    <dl class="facts">
      <dt>In memory only</dt>
      <dd><b>${number(inMemory)}</b> <span class="soft">${names(memory)}</span></dd>
      <dt>In IndexedDB</dt>
      <dd><b>${number(inStore)}</b> <span class="soft">${names(stored)}</span></dd>
      ${unknown ? html`<dt>Place unknown</dt><dd><b>${number(unknown)}</b> <span class="soft">tracked before the inspector opened, or not traced yet</span></dd>` : nothing}
    </dl>`;
};

const sender = (model: Model, now: number): TemplateResult => {
  const who = senderOf(model, now);
  const { link } = model;
  const tab = (name: string) => html`<code title=${name}>${short(name)}</code>`;
  const text = () => {
    if (who.kind === 'this')
      return html`<b class="good">This tab sends</b> for all tabs. Its lease ends in ${countdown(who.until, now)}.`;
    if (who.kind === 'other')
      return html`<b>Another tab sends</b> for all tabs. The lease of ${tab(who.tab)} ends in ${countdown(who.until, now)}.`;
    if (who.kind === 'waiting')
      return html`<b class="lost">Retry in ${countdown(who.until, now)}</b>, at ${clock(who.until)}, after ${plural(who.fails, 'failure')} in a row.`;
    if (who.kind === 'nobody' && model.stats.queued)
      return html`<b>No tab holds the lease.</b> Queued events are sent after the flush interval, unless the tracker has stopped.`;
    if (who.kind === 'nobody')
      return html`<b>No tab holds the lease</b>, as far as this tab knows. Its queue is empty.`;
    return html`<span class="soft">Unknown until this tab sends or waits for the lease.</span>`;
  };
  return html`<h4>Lease</h4>
    <p class="sender">${text()}</p>
    ${
      link
        ? html`<dl class="facts">
            <dt>This tab</dt><dd>${tab(link.tab)}</dd>
            <dt>Last confirmed</dt><dd>${link.okAt ? clock(link.okAt) : 'never'}</dd>
          </dl>`
        : nothing
    }`;
};

/** The sending tab, in two or three words. */
export const senderChip = (model: Model, now: number): TemplateResult => {
  const who = senderOf(model, now);
  if (who.kind === 'this') return html`<p class="chip good">this tab sends</p>`;
  if (who.kind === 'other') return html`<p class="chip">another tab sends</p>`;
  if (who.kind === 'waiting') return html`<p class="chip lost">retry in ${countdown(who.until, now)}</p>`;
  if (model.stats.queued) return html`<p class="chip">events queued</p>`;
  return html`<p class="chip soft">${who.kind === 'nobody' ? 'queue empty' : 'no request yet'}</p>`;
};

const CONSENT = {
  granted: 'granted or not required',
  refused: 'refused: nothing is stored or sent',
  unknown: 'unknown',
} as const;

const visitor = (model: Model): TemplateResult => {
  const { visitorId, primaryKey, isReported } = model.visitor ?? {};
  return html`<h4>Visitor</h4>
    <dl class="facts">
      <dt>Visitor id</dt>
      <dd>${visitorId ? html`<code>${visitorId}</code>` : html`<span class="soft">${model.visitor ? 'erased' : 'unknown until the next report, or until a new event is confirmed'}</span>`}</dd>
      <dt>Primary key</dt>
      <dd>${primaryKey ?? html`<span class="soft">${isReported ? 'none (anonymous)' : 'unknown'}</span>`}</dd>
      <dt>Consent</dt>
      <dd>${CONSENT[consentOf(model)]}</dd>
    </dl>`;
};

const dropped = ({ stats }: Model): TemplateResult => {
  const reasons = Object.entries(stats.dropped) as [DropReason, number][];
  return html`<h4>Dropped</h4>
    ${
      reasons.length
        ? html`<dl class="facts">
            ${reasons.map(([reason, count]) => html`<dt>${reason}</dt><dd><b class="lost">${number(count)}</b> <span class="soft">${REASONS[reason] ?? ''}</span></dd>`)}
          </dl>`
        : html`<p class="soft">None.</p>`
    }`;
};

const errors = ({ errors }: Model): TemplateResult => html`<h4>Errors</h4>
  ${
    errors.length
      ? html`<ol class="rows errors">
          ${[...errors].reverse().map(({ at, message }) => html`<li><time class="soft">${clock(at)}</time> <span class="lost">${message}</span></li>`)}
        </ol>`
      : html`<p class="soft">None.</p>`
  }`;

/** The queue, the lease, the visitor, drops and errors. */
export const stateView = (model: Model, now: number): TemplateResult => {
  const last = model.seconds.at(-1);
  const rate = last && last.at >= Math.floor(now / 1000) - 1 ? last.tracked : 0;
  return html`
    <div class="bar state-bar"><h3>State</h3></div>
    <figure>
      <figcaption>
        <span><i class="swatch colour-tracked"></i>events per second</span>
        <span><i class="swatch colour-queued"></i>queue</span>
        <span>last minute</span>
      </figcaption>
      <div
        class="chart colour-line"
        role="img"
        aria-label="Last minute: ${plural(rate, 'event')} in this second, ${number(model.stats.queued)} queued"
      ></div>
    </figure>
    ${queue(model)} ${sender(model, now)} ${visitor(model)} ${dropped(model)} ${errors(model)}
  `;
};
