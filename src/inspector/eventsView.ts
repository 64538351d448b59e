import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { duration, instant, number, plural } from './format.js';
import type { Model, SeenEvent } from './model.js';
import type { Ui } from './ui.js';

/** So many rows at a time: a page is not to be slow because somebody looks at it. */
export const PAGE = 50;

/** A station of an event's way. */
interface Station {
  readonly label: string;
  readonly at: number | undefined;
  /** Ms since the station before. */
  readonly after: number | undefined;
}

const endOf = ({ end }: SeenEvent): string => {
  if (!end) return 'waiting';
  return end === 'delivered' ? 'confirmed' : `dropped: ${end}`;
};

const stationsOf = (event: SeenEvent): Station[] => {
  const { trackedAt, storedAt, sentAt, endedAt, end } = event;
  let before: number | undefined;
  const station = (label: string, at: number | undefined): Station => {
    const after = at !== undefined && before !== undefined ? at - before : undefined;
    before = at ?? before;
    return { label, at, after };
  };
  const last = !end || end === 'delivered' ? 'Confirmed' : 'Dropped';
  return [station('Tracked', trackedAt), station('Stored', storedAt), station('Sent', sentAt), station(last, endedAt)];
};

const node = ({ label, at, after }: Station, isReached: boolean): TemplateResult => {
  const classes = ['node', at !== undefined && 'is-seen', isReached && 'is-reached', label === 'Dropped' && 'is-lost'];
  return html`<span class=${classes.filter(Boolean).join(' ')}>
    ${after === undefined ? nothing : html`<span class="after">${duration(after)}</span>`}
  </span>`;
};

const attempts = ({ requests }: SeenEvent) => (requests.length > 1 ? `${requests.length} times` : '');

const detail = (event: SeenEvent, stations: Station[]): TemplateResult => {
  const { uuid, thread, payload, requests, why, end } = event;
  const sent = requests.length ? ` in request ${requests.map((one) => `#${one}`).join(', ')}` : '';
  const missing = end === 'delivered' ? 'not seen here' : 'not yet';
  return html`<div class="detail">
    <ol class="steps" aria-label="Steps">
      ${stations.map(
        ({ label, at, after }) => html`<li>
          <b>${label}</b>
          <span>
            ${at === undefined ? missing : html`<time>${instant(at)}</time>`}
            ${after === undefined ? nothing : html`<span class="soft">+${duration(after)}</span>`}
            ${label === 'Sent' && at !== undefined ? html`<span class="soft">${sent}</span>` : nothing}
          </span>
        </li>`,
      )}
    </ol>
    ${why ? html`<p class="lost">${why}</p>` : nothing}
    <dl class="facts">
      <dt>uuid</dt>
      <dd><code>${uuid}</code></dd>
      ${thread ? html`<dt>thread</dt><dd><code>${thread}</code></dd>` : nothing}
    </dl>
    <pre tabindex="0" aria-label="Payload">${payload === undefined ? 'no payload' : JSON.stringify(payload, undefined, 2)}</pre>
  </div>`;
};

const row = (event: SeenEvent, ui: Ui): TemplateResult => {
  const stations = stationsOf(event);
  const reached = stations.map(({ at }) => at !== undefined).lastIndexOf(true);
  const { uuid, name, trackedAt, end } = event;
  const isOpen = ui.opened.has(uuid);
  const toggle = ({ target }: Event) => {
    (target as HTMLDetailsElement).open ? ui.opened.add(uuid) : ui.opened.delete(uuid);
    ui.changed();
  };
  const kind = !end ? 'soft' : end === 'delivered' ? 'good' : 'lost';
  return html`<li>
    <details @toggle=${toggle}>
      <summary>
        <time class="soft">${trackedAt ? instant(trackedAt) : 'earlier'}</time>
        <b class="name">${name || 'name not seen'}</b>
        <span class="way">${stations.map((station, index) => node(station, index <= reached))}</span>
        <span class="end ${kind}">${endOf(event)} <span class="soft">${attempts(event)}</span></span>
      </summary>
      ${isOpen ? detail(event, stations) : nothing}
    </details>
  </li>`;
};

const matches = (event: SeenEvent, filter: string): boolean =>
  `${event.name ?? ''} ${endOf(event)}`.toLowerCase().includes(filter.trim().toLowerCase());

/** Each event's way, the newest first. */
export const eventsView = (model: Model, ui: Ui): TemplateResult => {
  const all = [...model.events.values()].reverse();
  const found = ui.filter.trim() ? all.filter((event) => matches(event, ui.filter)) : all;
  const shown = found.slice(0, ui.shown);
  const more = found.length - shown.length;
  const filter = ({ target }: Event) => {
    ui.filter = (target as HTMLInputElement).value;
    ui.shown = PAGE;
    ui.changed();
  };
  const showMore = () => {
    ui.shown += PAGE;
    ui.changed();
  };
  return html`
    <div class="bar">
      <h3>Events</h3>
      <input type="search" placeholder="Filter" aria-label="Filter events by name or end" .value=${ui.filter} @input=${filter} />
    </div>
    ${
      model.before
        ? html`<p class="note">${plural(model.before, 'event')} had been tracked before this was opened: they count in the sums. Their
        names, payloads and times show only if they are confirmed or dropped from now on.</p>`
        : nothing
    }
    ${
      shown.length
        ? html`<div class="head" aria-hidden="true">
            <span></span><span></span><span class="way"><i>Tracked</i><i>Stored</i><i>Sent</i><i>Confirmed</i></span><span></span>
          </div>
          <ol class="rows events" aria-label="Events, the newest first">
            ${repeat(
              shown,
              ({ uuid }) => uuid,
              (event) => row(event, ui),
            )}
          </ol>`
        : html`<p class="empty">${all.length ? 'No event matches.' : 'Nothing tracked yet: what the page tracks from now on shows here, step by step.'}</p>`
    }
    ${more > 0 ? html`<button type="button" class="more" @click=${showMore}>Show ${number(Math.min(more, PAGE))} of ${number(more)} older</button>` : nothing}
    ${model.forgotten ? html`<p class="note">${plural(model.forgotten, 'older event')} not kept any more; the sums go on.</p>` : nothing}
  `;
};
