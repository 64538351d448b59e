import { html, nothing, type TemplateResult } from 'lit';
import { guard } from 'lit/directives/guard.js';
import { repeat } from 'lit/directives/repeat.js';
import { UPSERT_PATH } from '../wire.js';
import { bytes, clock, countdown, duration, plural, reasonIn } from './format.js';
import type { Model } from './model.js';
import type { SeenRequest } from './requests.js';
import { restView } from './restView.js';
import { rowsInSight, type Ui } from './ui.js';

const sizeOf = ({ bytes: size, gzip }: SeenRequest): string =>
  gzip === undefined ? bytes(size) : `${bytes(size)}, as gzip ${bytes(gzip)}`;

const contentOf = ({ path, size, strangers }: SeenRequest): string => {
  if (path === UPSERT_PATH) return 'properties';
  if (!size) return 'asks which earlier requests have arrived';
  // Another tab's, an earlier page's, or from before the inspector was opened.
  const others = strangers === size ? 'not seen here' : `${strangers} not seen here`;
  return `${plural(size, 'event')}${strangers ? ` (${others})` : ''}`;
};

const OUTCOMES = {
  delivered: 'confirmed',
  rejected: 'rejected because of its content',
  refused: 'key or address rejected',
  failed: 'failed',
} as const;

const answerOf = ({ sentAt, answeredAt, outcome, status, leaving, rejected }: SeenRequest): TemplateResult => {
  if (!outcome || answeredAt === undefined)
    return html`<span class="soft">${leaving ? 'handed over while the page unloaded: that page cannot read the response' : 'waiting for the response'}</span>`;
  const kind = outcome === 'delivered' ? 'good' : 'lost';
  // A later page learns that a request has arrived, but not its status.
  const code = status ?? (outcome === 'delivered' ? '' : 'no response');
  return html`<span class=${kind}><b>${code}</b> ${OUTCOMES[outcome]}</span>
    <span class="soft">after ${duration(answeredAt - sentAt)}${leaving ? ', to a later page' : ''}${rejected ? `, but ${rejected} rejected` : ''}</span>`;
};

const row = (request: SeenRequest, now: number): TemplateResult => {
  const { number, sentAt, path, outcome, message, retryAt, retryAfter } = request;
  const isTrouble = outcome && (outcome !== 'delivered' || request.rejected);
  return html`<li>
    <p class="line"><span class="soft">#${number}</span> <time class="soft">${clock(sentAt)}</time> <code>${path}</code></p>
    <p class="line">${contentOf(request)}<span class="soft">, ${sizeOf(request)}</span></p>
    <p class="line">${answerOf(request)}</p>
    ${isTrouble && message ? html`<p class="message">${reasonIn(message)}</p>` : nothing}
    ${
      retryAt
        ? html`<p class="line lost">${retryAt > now ? `Retry in ${countdown(retryAt, now)}, at ${clock(retryAt)}` : `Retry at ${clock(retryAt)}`}
            ${retryAfter ? html`<span class="soft">(Retry-After: ${duration(retryAfter)})</span>` : nothing}</p>`
        : nothing
    }
  </li>`;
};

/** The parts of a row that may change: the answer, and the time until the retry. */
const shownOf = ({ outcome, retryAt = 0 }: SeenRequest, now: number): unknown[] => [
  outcome,
  retryAt,
  retryAt > now && countdown(retryAt, now),
];

/** Each request, the newest first. */
export const requestsView = ({ requests }: Model, ui: Ui, now: number): TemplateResult => html`
  <div class="bar requests-bar"><h3>Requests</h3></div>
  ${
    requests.count
      ? html`<ol class="rows requests" aria-label="Requests, the newest first">
          ${repeat(
            [...requests.list].reverse().slice(0, rowsInSight(ui, 'requests')),
            ({ number }) => number,
            (request) => guard([request, ...shownOf(request, now)], () => row(request, now)),
          )}
        </ol>
        ${restView(requests.list.length - rowsInSight(ui, 'requests'), 'requests')}`
      : html`<p class="empty">No request yet. Queued events are sent after the flush interval.</p>`
  }
  ${requests.count > requests.list.length ? html`<p class="note">${plural(requests.count - requests.list.length, 'older request')} discarded.</p>` : nothing}
`;
