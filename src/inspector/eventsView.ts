import { html, nothing, type TemplateResult } from 'lit';
import { guard } from 'lit/directives/guard.js';
import { repeat } from 'lit/directives/repeat.js';
import { duration, instant, number, plural, reasonIn } from './format.js';
import type { Model, SeenEvent } from './model.js';
import { restView } from './restView.js';
import { earlierIn } from './standing.js';
import { endOf, type Station, stationsOf } from './stations.js';
import { PAGE, rowsInSight, type Ui } from './ui.js';

/** A trace may have an id without a name, for example the id of properties that are not sent yet. */
const nameOf = ({ name }: SeenEvent): string => name ?? 'name unknown';

const node = ({ label, at, after, isReached }: Station): TemplateResult => {
  const classes = ['node', at !== undefined && 'is-seen', isReached && 'is-reached', label === 'Dropped' && 'is-lost'];
  return html`<span class=${classes.filter(Boolean).join(' ')}>
    ${after === undefined ? nothing : html`<span class="after">${duration(after)}</span>`}
  </span>`;
};

const step = ({ label, at, after, missing }: Station, sent: string): TemplateResult => html`<li>
  <span>${label}</span>
  <span>
    ${at === undefined ? html`<span class="soft">${missing}</span>` : html`<time>${instant(at)}</time>`}
    ${after === undefined ? nothing : html`<span class="soft">+${duration(after)}</span>`}${
      label === 'Sent' && sent ? html`<span class="soft">${sent}</span>` : nothing
    }
  </span>
</li>`;

const detail = (event: SeenEvent, stations: Station[]): TemplateResult => {
  const { uuid, visitorId, payload, requests, why } = event;
  const sent = requests.length ? `, request ${requests.map((one) => `#${one}`).join(', ')}` : '';
  return html`<div class="detail">
    <div>
      <ol class="steps" aria-label="Steps">
        ${stations.map((station) => step(station, sent))}
      </ol>
      ${why ? html`<p class="lost">${reasonIn(why)}</p>` : nothing}
      <dl class="facts">
        <dt>uuid</dt>
        <dd><code>${uuid}</code></dd>
        ${visitorId ? html`<dt>visitor id</dt><dd><code>${visitorId}</code></dd>` : nothing}
      </dl>
    </div>
    <pre tabindex="0" role="region" aria-label="Payload">${payload === undefined ? 'no payload' : JSON.stringify(payload, undefined, 2)}</pre>
  </div>`;
};

const row = (event: SeenEvent, ui: Ui): TemplateResult => {
  const { uuid, end } = event;
  const stations = stationsOf(event);
  const since = stations.find(({ at }) => at !== undefined)?.at;
  const toggle = ({ target }: Event) => {
    (target as HTMLDetailsElement).open ? ui.opened.add(uuid) : ui.opened.delete(uuid);
    ui.changed();
  };
  const kind = !end ? 'soft' : end === 'delivered' ? 'good' : 'lost';
  return html`<li data-uuid=${uuid}>
    <details ?open=${ui.opened.has(uuid)} @toggle=${toggle}>
      <summary>
        <time class="soft">${since ? instant(since) : 'earlier'}</time>
        <b class="name">${nameOf(event) || 'no name'}</b>
        <span class="way">${stations.map(node)}</span>
        <span class="end ${kind}">${endOf(event)}</span>
      </summary>
      ${ui.opened.has(uuid) ? detail(event, stations) : nothing}
    </details>
  </li>`;
};

/** All that a row shows: a row is drawn again only if something of it is another one. */
const shownOf = (event: SeenEvent, ui: Ui): unknown[] => {
  const { uuid, name, payload, visitorId, isTracked, trackedAt, storedAt, sentAt, requests, endedAt, end, why } = event;
  const isOpen = ui.opened.has(uuid);
  return [isOpen, name, payload, visitorId, isTracked, trackedAt, storedAt, sentAt, requests.length, endedAt, end, why];
};

const matches = (event: SeenEvent, filter: string): boolean =>
  `${nameOf(event)} ${endOf(event)}`.toLowerCase().includes(filter.trim().toLowerCase());

const listView = (found: readonly SeenEvent[], ui: Ui): TemplateResult => {
  // A row that is not drawn any more loses the focus. So does a row that becomes the last one, because Lit moves it.
  const pastFocus = found.findIndex(({ uuid }) => uuid === ui.focused) + 2;
  const shown = found.slice(0, Math.max(ui.shown, pastFocus));
  const drawn = shown.slice(0, Math.max(rowsInSight(ui, 'events'), pastFocus));
  const more = found.length - shown.length;
  const showMore = () => {
    ui.shown += PAGE;
    ui.changed();
  };
  return html`<div class="head" aria-hidden="true">
      <span class="way"><i>Tracked</i><i>Stored</i><i>Sent</i><i>Confirmed</i></span>
    </div>
    <ol class="rows events" aria-label="Events, the newest first">
      ${repeat(
        drawn,
        ({ uuid }) => uuid,
        (event) => guard([event, ...shownOf(event, ui)], () => row(event, ui)),
      )}
    </ol>
    ${restView(shown.length - drawn.length, 'events')}
    ${
      more > 0
        ? html`<button type="button" class="more" @click=${showMore}>
            Show ${number(Math.min(more, PAGE))} of ${number(more)} older
          </button>`
        : nothing
    }`;
};

const earlierView = (before: number, queued: number): TemplateResult => html`<p class="note">
  ${plural(before, 'event')} tracked before the inspector opened. The totals include ${before > 1 ? 'them' : 'it'}.
  ${queued ? `${number(queued)} of these ${queued > 1 ? 'are' : 'is'} still queued, and will appear here when confirmed or dropped.` : nothing}
</p>`;

/** The path of each event, the newest first. */
export const eventsView = (model: Model, ui: Ui): TemplateResult => {
  const { events, before, forgotten } = model;
  const all = [...events.values()].reverse();
  const found = ui.filter.trim() ? all.filter((event) => matches(event, ui.filter)) : all;
  const filter = ({ target }: Event) => {
    ui.filter = (target as HTMLInputElement).value;
    ui.shown = PAGE;
    ui.changed();
  };
  const empty = all.length
    ? 'No event matches the filter.'
    : 'No events yet. Events appear here when the page tracks them.';
  return html`
    <div class="bar">
      <h3>Events</h3>
      <input
        type="search"
        placeholder="Filter by name or status"
        aria-label="Filter events by name or status"
        .value=${ui.filter}
        @input=${filter}
      />
    </div>
    ${before ? earlierView(before, earlierIn(model)) : nothing}
    ${found.length ? listView(found, ui) : html`<p class="empty">${empty}</p>`}
    ${forgotten ? html`<p class="note">${plural(forgotten, 'older event')} discarded. The totals still include ${forgotten > 1 ? 'them' : 'it'}.</p>` : nothing}
  `;
};
