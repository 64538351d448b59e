/** The message of a thrown value of any type. A value without a message gives 'unknown'. */
export const messageOf = (thrown: unknown): string => {
  try {
    return `${(thrown as Error | undefined)?.message ?? 'unknown'}`;
  } catch {
    return 'unknown';
  }
};
