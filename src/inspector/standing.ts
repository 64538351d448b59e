import type { Model } from './model.js';

/** The tab that sends now, as far as this page knows. */
export type Sender =
  | { readonly kind: 'unknown' | 'nobody' }
  | { readonly kind: 'this' | 'other'; readonly tab: string; readonly until: number }
  | { readonly kind: 'waiting'; readonly until: number; readonly fails: number };

export const senderOf = ({ link }: Model, now: number): Sender => {
  if (!link) return { kind: 'unknown' };
  const { by, tab, until, fails } = link;
  // This page learns of another tab's lease only when it has something to send itself. A lease that is over shows nothing any more.
  if (until <= now) return { kind: 'nobody' };
  if (!by) return { kind: 'waiting', until, fails };
  return { kind: by === tab ? 'this' : 'other', tab: by, until };
};

/** Where events wait. An `unknown` event was tracked before the inspector was opened, or is only counted. */
export interface Held {
  readonly memory: readonly [name: string, count: number][];
  readonly stored: readonly [name: string, count: number][];
  readonly inMemory: number;
  readonly inStore: number;
  readonly unknown: number;
}

const most = (counts: Map<string, number>): [string, number][] => [...counts].sort(([, a], [, b]) => b - a);

/** How many queued events the inspector has not seen. */
const unseenIn = ({ waiting, stats }: Model): number => Math.max(stats.queued - waiting.size, 0);

export const heldIn = (model: Model): Held => {
  const { waiting } = model;
  const counts = { memory: new Map<string, number>(), stored: new Map<string, number>() };
  let inStore = 0;
  for (const { name, isStored } of waiting.values()) {
    const of = isStored ? counts.stored : counts.memory;
    of.set(name, (of.get(name) ?? 0) + 1);
    if (isStored) inStore++;
  }
  const inMemory = waiting.size - inStore;
  return { memory: most(counts.memory), stored: most(counts.stored), inMemory, inStore, unknown: unseenIn(model) };
};

/** How many events from before the inspector was opened are still queued, at most. */
export const earlierIn = (model: Model): number => Math.min(model.before ?? 0, unseenIn(model));

/** The visitor's answer, as far as it shows. The totals may have drops of a refusal that is over. */
export const consentOf = ({ visitor }: Model): 'granted' | 'refused' | 'unknown' => {
  if (!visitor) return 'unknown';
  return visitor.visitorId ? 'granted' : 'refused';
};
