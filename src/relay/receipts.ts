import { isUuid } from '../service/eventFault.js';
import { inTime } from '../service/inTime.js';
import { HANDOVER, type HandoverState } from '../wire.js';
import { Refusal } from './request.js';
import { createAskSeen } from './reserve.js';
import { pause } from './retry.js';
import type { Seen, SeenState } from './seen.js';

/** A handover that a page asks about, and how long ago it was made, in ms. */
export type Question = readonly [id: string, age: number];

/** A request that is being served. The handover's id is `pending` in `seen` meanwhile. */
export interface Receipt {
  /** Has to resolve each time before the request's properties are forwarded. Rejects with a `Refusal` if the handover was called unknown. */
  claim(): Promise<void>;
  /** The service has all of the request's events, or not. The promise never rejects. */
  end(isTaken: boolean): Promise<void>;
}

/** How long (ms) after a departure its request may still arrive. The next page can ask about the request before that. */
const ARRIVING = 1000;
/** How often (ms) the relay looks for such a request, and for one that is being served. */
const LOOK = 100;
/** How often, and after how many ms, a request reserves its id again, because a look of another request holds the id for a moment. */
const MOST_RESERVED = 10;
const REST = 20;

/**
 * The id in `seen` that decides whether a handover's properties are forwarded. The request that brings them reserves it. The relay
 * confirms it before it calls the handover unknown. The id is a UUID, too, because a `seen` may take nothing else.
 */
const claimOf = (id: string): string => (Number.parseInt(id.charAt(0), 16) ^ 8).toString(16) + id.slice(1);

/** Most handovers of a request. More come from no tracker. */
const MOST_QUESTIONS = 100;

const UNREADABLE = 'the relay cannot note which handovers it has called unknown';

const idIn = (id: unknown): string | undefined => {
  if (id === undefined || id === null) return undefined;
  if (!isUuid(id)) throw new Refusal(400, `${HANDOVER}: expected a lower-case UUID`);
  return id;
};

/** The id in the address: a page that leaves names it there, so that the relay knows of the handover before its body has arrived. */
export const idInAddress = ({ searchParams }: URL): string | undefined => idIn(searchParams.get(HANDOVER));

/** The id in the body of a request whose answer the page expects to read. */
export const idInBody = ({ handover }: Record<string, unknown>): string | undefined => idIn(handover);

/** @throws Refusal 400 */
export const questionsIn = ({ handovers = [] }: Record<string, unknown>): readonly Question[] => {
  const isQuestion = (one: unknown) =>
    Array.isArray(one) && one.length === 2 && isUuid(one[0]) && Number.isFinite(one[1]) && one[1] >= 0;
  if (Array.isArray(handovers) && handovers.length <= MOST_QUESTIONS && handovers.every(isQuestion)) return handovers;
  throw new Refusal(400, `handovers: expected at most ${MOST_QUESTIONS} pairs of an id and an age of 0 ms or more`);
};

/**
 * Remembers which handovers were forwarded, beside the events in `seen`.
 *
 * @param onError receives why `seen` has failed. Without a receipt, the page sends its events again
 */
export const createReceipts = (seen: Seen, timeout: number, onError: (error: unknown) => void) => {
  const askSeen = createAskSeen(seen, timeout, onError);
  const attempt = async <T>(work: () => Promise<T> | T): Promise<T | undefined> => {
    try {
      return await inTime((async () => work())(), timeout, 'seen');
    } catch (error) {
      onError(error);
      return undefined;
    }
  };
  const memory = () => attempt(() => seen.memory?.());
  let begun: Promise<unknown> | undefined;
  return {
    /** Notes that a request is being served. The properties of a duplicate, as browsers send it by themselves, are not forwarded. */
    open(id: string): Receipt {
      // A memory in a database begins when it is first asked.
      begun ??= memory();
      const owner = crypto.randomUUID();
      let isEnded = false;
      const reserve = async () => {
        for (let tries = 0; tries < MOST_RESERVED && !isEnded; tries++) {
          const [state] = (await attempt(() => seen.reserve([id], owner))) ?? [];
          if (state !== 'pending') return;
          await pause(REST);
        }
      };
      const opened = reserve();
      let claims: readonly string[] = [];
      return {
        async claim() {
          // Without `seen`, the properties are forwarded as before.
          const [state] = (await askSeen([claimOf(id)], owner).catch(() => undefined)) ?? [];
          if (state && state !== 'new')
            throw new Refusal(503, `${HANDOVER}: it was called unknown, or is forwarded already`, 1);
          if (state) claims = [claimOf(id)];
        },
        async end(isTaken) {
          isEnded = true;
          await Promise.all([begun, opened]);
          // A browser may send the request again by itself, after newer properties of the next page.
          const ids = [id, ...claims];
          await attempt(() => (isTaken ? seen.confirm(ids) : seen.release(ids, owner)));
        },
      };
    },
    /**
     * Resolves to the state of each, in order, once none of them is being served, or after `timeout`. Undefined without questions. A
     * handover that is not taken then brings no properties any more: the page sends these again, and perhaps newer ones after them.
     *
     * @throws Refusal 503 if `seen` fails: the relay could not refuse a late handover, so the page must ask again
     */
    async ask(questions: readonly Question[]): Promise<readonly HandoverState[] | undefined> {
      if (!questions[0]) return undefined;
      const ids = questions.map(([id]) => id);
      const owner = crypto.randomUUID();
      const look = async (): Promise<readonly SeenState[]> => {
        const states = await askSeen(ids, owner);
        const fresh = ids.filter((_id, at) => states[at] === 'new');
        if (fresh[0]) await attempt(() => seen.release(fresh, owner));
        return states;
      };
      /** From now on, the relay refuses the properties of these handovers. */
      const refuse = async (handovers: readonly string[]) => {
        if (!handovers[0]) return;
        const isDone = await attempt(async () => {
          await seen.confirm(handovers.map(claimOf));
          return true;
        });
        if (!isDone) throw new Refusal(503, UNREADABLE, 1);
      };
      /** Closes the handovers that have not arrived. One that is arriving at this moment is pending. */
      const close = async (found: readonly SeenState[]): Promise<readonly SeenState[]> => {
        const fresh = ids.filter((_id, at) => found[at] === 'new');
        if (!fresh[0]) return found;
        const claims = await askSeen(fresh.map(claimOf), owner);
        await refuse(fresh.filter((_id, at) => claims[at] === 'new'));
        const arriving = fresh.filter((_id, at) => claims[at] === 'pending');
        return found.map((state, at) => (arriving.includes(ids[at] as string) ? 'pending' : state));
      };
      const begin = performance.now();
      let states = await look();
      for (;;) {
        const waited = performance.now() - begin;
        /** A relay that has died leaves a handover pending. Such a handover must not keep the page from the answers about the others. */
        const mayArrive = ([, age]: Question, at: number) =>
          states[at] === 'pending' ? waited < timeout : states[at] === 'new' && age + waited < ARRIVING;
        if (!questions.some(mayArrive)) {
          states = await close(states);
          if (!questions.some(mayArrive)) break;
        }
        // Rarely after the first second: all pages ask about what a relay has left pending.
        await pause(Math.max(LOOK, waited / 10));
        states = await look();
      }
      const found = states;
      // The relay that is forwarding them may still retry.
      await refuse(ids.filter((_id, at) => found[at] === 'pending'));
      const reach = found.includes('new') ? await memory() : undefined;
      return questions.map(([, age], at) => {
        if (found[at] === 'taken') return 'taken';
        return reach !== undefined && age > reach && found[at] === 'new' ? 'forgotten' : 'unknown';
      });
    },
  };
};
