import { html, nothing, type TemplateResult } from 'lit';
import type { DropReason } from '../tracker/signals.js';
import { clock, countdown, number, plural, short } from './format.js';
import type { Model } from './model.js';
import { consentOf, heldIn, senderOf } from './standing.js';

const REASONS: Record<DropReason, string> = {
  rejected: 'refused by the service or the relay, or a bad name',
  'too-large': 'larger than a request may be',
  full: 'more were queued than a page may hold',
  expired: 'too old to be of use',
  unserialisable: 'JSON cannot express the payload',
  filtered: 'taken out by beforeSend',
  consent: 'the visitor has not agreed',
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
      ${unknown ? html`<dt>Not known where</dt><dd><b>${number(unknown)}</b> <span class="soft">not seen when tracked</span></dd>` : nothing}
    </dl>`;
};

const sender = (model: Model, now: number): TemplateResult => {
  const who = senderOf(model, now);
  const { link } = model;
  const tab = (name: string) => html`<code title=${name}>${short(name)}</code>`;
  const says = () => {
    if (who.kind === 'this')
      return html`<b class="good">This tab sends</b> for all tabs of this site; its lease ends in ${countdown(who.until, now)}.`;
    if (who.kind === 'other')
      return html`<b>Another tab sends</b> for this one, too: ${tab(who.tab)}, for ${countdown(who.until, now)} at most.`;
    if (who.kind === 'waiting')
      return html`<b class="lost">Nobody sends for ${countdown(who.until, now)}</b>, until ${clock(who.until)}: ${plural(who.fails, 'failure')} in a row.`;
    if (who.kind === 'nobody' && model.stats.queued)
      return html`<b>Nobody sends</b> at this moment: what is queued waits for others to travel with.`;
    if (who.kind === 'nobody') return html`<b>Nobody sends</b>, as far as this tab knows: it has nothing to send.`;
    return html`<span class="soft">Not known before this tab sends, or waits for another one.</span>`;
  };
  return html`<h4>Who sends</h4>
    <p class="sender">${says()}</p>
    ${
      link
        ? html`<dl class="facts">
            <dt>This tab</dt><dd>${tab(link.tab)}</dd>
            <dt>Last confirmed</dt><dd>${link.okAt ? clock(link.okAt) : 'never yet'}</dd>
          </dl>`
        : nothing
    }`;
};

/** Who sends, as short as can be. */
export const senderChip = (model: Model, now: number): TemplateResult => {
  const who = senderOf(model, now);
  if (who.kind === 'this') return html`<p class="chip good">this tab sends</p>`;
  if (who.kind === 'other') return html`<p class="chip">another tab sends</p>`;
  if (who.kind === 'waiting') return html`<p class="chip lost">next try in ${countdown(who.until, now)}</p>`;
  if (model.stats.queued) return html`<p class="chip">gathering events</p>`;
  return html`<p class="chip soft">${who.kind === 'nobody' ? 'at rest' : 'nothing sent yet'}</p>`;
};

const CONSENT = {
  granted: 'given, or not asked for',
  refused: 'refused: nothing is stored or sent',
  unknown: 'not known yet',
} as const;

const visitor = (model: Model): TemplateResult => {
  const { thread, primaryKey, isTold } = model.visitor ?? {};
  return html`<h4>Visitor</h4>
    <dl class="facts">
      <dt>Thread</dt>
      <dd>${thread ? html`<code>${thread}</code>` : html`<span class="soft">${model.visitor ? 'erased' : 'not told since this was opened; the next event that is confirmed has it'}</span>`}</dd>
      <dt>Primary key</dt>
      <dd>${primaryKey ?? html`<span class="soft">${isTold ? 'none: anonymous' : 'not known'}</span>`}</dd>
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
        : html`<p class="soft">Nothing.</p>`
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

/** How things stand: what waits, who sends, who the visitor is, and what went wrong. */
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
        aria-label="The last minute: ${plural(rate, 'event')} in this second, ${number(model.stats.queued)} queued"
      ></div>
    </figure>
    ${queue(model)} ${sender(model, now)} ${visitor(model)} ${dropped(model)} ${errors(model)}
  `;
};
