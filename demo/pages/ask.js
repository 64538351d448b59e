// @ts-check

/**
 * A request to the demo's own interface, which a real service lacks.
 *
 * @param {string} method @param {string} path @param {unknown} [body]
 * @returns {Promise<any>} the answer
 * @throws Error with the service's own message when it refuses, or if the demo is stopped
 */
export const ask = async (method, path, body) => {
  const response = await fetch(`/inspect/${path}`, {
    method,
    ...(body !== undefined && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
  }).catch(() => {
    throw new Error('No connection to the demo.');
  });
  const text = await response.text();
  const answer = text ? JSON.parse(text) : undefined;
  if (!response.ok) throw new Error(answer?.error ?? `the service answered ${response.status}`);
  return answer;
};
