import type { SeenEvent } from './model.js';

/** A station on an event's path. */
export interface Station {
  readonly label: 'Tracked' | 'Stored' | 'Sent' | 'Confirmed' | 'Dropped';
  readonly at: number | undefined;
  /** Ms since the station before that was seen. */
  readonly after: number | undefined;
  /** The event has been here, or further on. */
  readonly isReached: boolean;
  /** In place of a time that was not seen: why there is none. */
  readonly missing: string;
}

/** An event's end, in words. */
export const endOf = ({ end, isCounted, requests }: SeenEvent): string => {
  if (isCounted) return 'confirmed by another page';
  const often = requests.length > 1 ? `, sent ${requests.length}×` : '';
  if (!end) return `queued${often}`;
  return end === 'delivered' ? `confirmed${often}` : `dropped: ${end}`;
};

/** Why a station's time is missing. */
const missingAt = ({ end, isTracked }: SeenEvent, label: Station['label']): string => {
  if (!end) return isTracked || label !== 'Tracked' ? 'not yet' : 'unknown';
  if (end !== 'delivered') return 'never';
  if (!isTracked) return 'unknown';
  // If this page has tracked an event and did not send it, and it was confirmed, another tab has sent it.
  return label === 'Sent' ? 'by another tab' : 'not needed';
};

/** An event's path, station by station. */
export const stationsOf = (event: SeenEvent): Station[] => {
  const { trackedAt, storedAt, sentAt, endedAt, end } = event;
  const ats = [
    ['Tracked', trackedAt],
    ['Stored', storedAt],
    ['Sent', sentAt],
    [!end || end === 'delivered' ? 'Confirmed' : 'Dropped', endedAt],
  ] as const;
  const furthest = ats.map(([, at]) => at !== undefined).lastIndexOf(true);
  let before: number | undefined;
  return ats.map(([label, at], index) => {
    const after = at !== undefined && before !== undefined ? at - before : undefined;
    before = at ?? before;
    return { label, at, after, isReached: index <= furthest, missing: missingAt(event, label) };
  });
};
