import { messageOf } from '../api/messageOf.js';
import { jsonOf } from '../wire.js';
import { REQUEST_TIMEOUT } from './lease.js';
import type { Answer } from './transport.js';

/** How long (ms) a transport may take to answer. The default transport gives up earlier. */
const PATIENCE = REQUEST_TIMEOUT + 1000;

const OUTCOMES: readonly unknown[] = ['delivered', 'rejected', 'refused', 'failed'];

/** A copy of an answer, because getters of the answer may throw later. Undefined if the value is no answer or cannot be read. */
const answerIn = (value: unknown): Answer | undefined => {
  try {
    const copy = JSON.parse(jsonOf(value));
    return OUTCOMES.includes(copy.outcome) ? copy : undefined;
  } catch {
    return undefined;
  }
};

/** The answer to a request. The promise never rejects and always settles: a transport that breaks its contract has failed. */
export const ask = async (send: () => unknown): Promise<Answer> => {
  const fault = (actual: string): Answer => ({
    outcome: 'failed',
    status: 0,
    message: `transport: expected an answer, got ${actual}`,
  });
  let sent: unknown;
  try {
    sent = send();
  } catch (error) {
    return fault(messageOf(error));
  }
  const answer = await new Promise((resolve) => {
    // Then there is none.
    const timer = setTimeout(resolve, PATIENCE);
    const end = (value: unknown) => {
      clearTimeout(timer);
      resolve(value);
    };
    // A rejection is part of the contract: the request has failed. Old polyfills of promises have no `finally`.
    Promise.resolve(sent).then(end, (error) => end({ outcome: 'failed', message: messageOf(error) } satisfies Answer));
  });
  return answerIn(answer) ?? fault(typeof answer);
};
