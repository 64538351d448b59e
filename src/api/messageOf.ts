/** The message of what was thrown, which may be anything: 'unknown' without one. */
export const messageOf = (thrown: unknown): string => {
  try {
    return `${(thrown as Error | undefined)?.message ?? 'unknown'}`;
  } catch {
    return 'unknown';
  }
};
