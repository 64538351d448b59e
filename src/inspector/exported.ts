import type { Model } from './model.js';

/** The content of the exported file: the events and requests in memory, and the sums of all. */
export const exported = ({ before, events, requests, ...model }: Model, now: number) => ({
  exportedAt: new Date(now).toISOString(),
  openedAt: new Date(model.openedAt).toISOString(),
  trackedBefore: before ?? null,
  stats: model.stats,
  visitor: model.visitor ?? null,
  link: model.link ?? null,
  events: [...events.values()],
  /** Seen, but not kept. */
  eventsForgotten: model.forgotten,
  requests: requests.list,
  requestsForgotten: requests.count - requests.list.length,
  errors: model.errors,
  seconds: model.seconds,
});

/** Hands the text to the browser as a file. */
export const download = (name: string, text: string): void => {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  // Browsers take it in their own time.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
};
