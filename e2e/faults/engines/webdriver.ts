/** Sends one WebDriver command: https://w3.org/TR/webdriver2/#endpoints */
export type Send = <T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) => Promise<T>;

export const createSend =
  (address: string): Send =>
  async (method, path, body = {}) => {
    const response = await fetch(address + path, {
      method,
      headers: { 'Content-Type': 'application/json' },
      ...(method === 'POST' && { body: JSON.stringify(body) }),
    });
    const { value } = (await response.json()) as { value: { error?: string; message?: string } | null };
    if (value?.error) throw new Error(`${path}: ${value.error}: ${value.message}`);
    return value as never;
  };

/** Runs jobs one after the other: a session has one current window, which a command has to choose first. */
export const createTurns = () => {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(job: () => Promise<T>): Promise<T> => {
    const turn = last.then(job, job);
    last = turn;
    return turn;
  };
};
