import { REQUEST_TIMEOUT } from './lease.js';
import type { Answer } from './transport.js';

/** A transport has so much time (ms) to answer. The default transport gives up earlier. */
const PATIENCE = REQUEST_TIMEOUT + 1000;

const isAnswer = (value: unknown): value is Answer =>
  /^(delivered|rejected|refused|failed)$/.test(`${(value as Answer | null | undefined)?.outcome}`);

/** The answer to a request. It never rejects and always settles: a transport that breaks its contract has failed. */
export const ask = async (send: () => unknown): Promise<Answer> => {
  const fault = (actual: string): Answer => ({
    outcome: 'failed',
    status: 0,
    message: `transport: expected an answer, got ${actual}`,
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  let sent: unknown;
  try {
    sent = send();
  } catch (error) {
    return fault(`${(error as Error | undefined)?.message}`);
  }
  const answer: unknown = await Promise.race([
    // A rejection is part of the contract: the request has failed.
    Promise.resolve(sent).catch((message): Answer => ({ outcome: 'failed', message })),
    new Promise((resolve) => {
      timer = setTimeout(resolve, PATIENCE);
    }),
  ]);
  clearTimeout(timer);
  // After the time-out, there is none.
  return isAnswer(answer) ? answer : fault(typeof answer);
};
