import type { WireEvent } from 'clew';

/** Events by name, page views with their path. */
export const nameAll = (events: WireEvent[]): string[] =>
  events.map(({ event, payload }) =>
    [event, (payload as { path?: string } | undefined)?.path].filter(Boolean).join(' '),
  );
