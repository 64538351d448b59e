/** The text of a failed request, with code and message of its cause: by itself, `fetch` of Node gives only `fetch failed`. */
export const reasonOf = (error: unknown): string => {
  const { code, message } = Object(Object(error).cause);
  const cause = `${message ?? ''}`;
  // Most messages have the code: `connect ECONNREFUSED 127.0.0.1:8080`.
  return [String(error), code && !cause.includes(code) && `${code}`, cause].filter(Boolean).join(': ');
};
