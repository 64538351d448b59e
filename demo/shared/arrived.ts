/** Events by name, page views with their path. */
export const nameAll = (events: readonly { event: string; payload?: unknown }[]): string[] =>
  events.map(({ event, payload }) =>
    [event, (payload as { path?: string } | undefined)?.path].filter(Boolean).join(' '),
  );
