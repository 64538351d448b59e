import type { Plugin } from '../api/types.js';
import type { MakeRenewal } from '../courier/renewal.js';
import type { Answer } from '../courier/transport.js';
import { type ItemText, idOf, isEvent, isIdentify } from '../recorder/event.js';
import { jsonOf, parseJson, TOKEN_EXPIRED } from '../wire.js';

/** Fields of `$identify` and of upserts. Other code of the origin may have written anything into the store. */
interface Signed {
  readonly primary_key?: unknown;
  readonly payload?: { readonly distinct_id?: unknown } | null;
  readonly signature?: unknown;
}

/** How long (ms) until the app is asked again, if it had no new token. */
const REST = 60_000;

/** Asks the app for new tokens. */
interface Asking {
  /** Returns a new token of this customer, or undefined if the person is no longer logged in. */
  getToken(primaryKey: string): string | undefined | Promise<string | undefined>;
  /** The app has answered: the items that waited can be sent. */
  onToken(): void;
  /** Whether the plugin has ended, or the visitor has refused: then no item waits for the answer any more. */
  isOver(): boolean;
}

const createRenewal =
  ({ getToken, onToken, isOver }: Asking): MakeRenewal =>
  (onExpired, failWith) => {
    /** The next token by an expired one: undefined while the app is asked, and '' if it has none. The store keeps the first one. */
    const tokens = new Map<unknown, string | undefined>();
    const latest = (token: unknown): unknown => {
      const next = tokens.get(token);
      return next ? latest(next) : token;
    };
    const isAwaited = (token: unknown) => tokens.has(token) && tokens.get(token) === undefined;

    const request = async (primaryKey: string, old: unknown) => {
      if (isOver()) return;
      try {
        const token = await getToken(primaryKey);
        // An empty text is the answer of a broken server, and no log-out.
        if (token === '' || typeof (token ?? '') !== 'string' || tokens.has(token))
          throw Error('renewTokens: expected a new token');
        tokens.set(old, token ?? '');
        onToken();
      } catch (error) {
        failWith(error);
        setTimeout(request, REST, primaryKey, old);
      }
    };

    /** The relay has refused this item, because its token has expired. Returns whether the item waits for a new one. */
    const expire = (text: ItemText): boolean => {
      const { primary_key, payload, signature } = parseJson<Signed>(text) ?? {};
      const primaryKey = primary_key ?? payload?.distinct_id;
      if (typeof primaryKey !== 'string' || tokens.get(signature) === '') return false;
      if (isAwaited(signature)) return true;
      onExpired(primaryKey);
      // The server's clock or keys may be wrong: then each new token is refused, too.
      const isNew = [...tokens.values()].includes(signature as string);
      tokens.set(signature, undefined);
      if (isNew) setTimeout(request, REST, primaryKey, signature);
      else request(primaryKey, signature);
      return true;
    };

    const ready = (items: readonly ItemText[]) => {
      /** Customers whose properties wait. A customer's later properties wait, too, perhaps with another token: the latest ones count. */
      const waiting = new Set<unknown>();
      return items.flatMap((text) => {
        if (!tokens.size || (isEvent(text) && !isIdentify(text))) return text;
        const item = parseJson<Signed>(text);
        const signature = latest(item?.signature);
        const primaryKey = item?.primary_key;
        if (isAwaited(signature) || waiting.has(primaryKey)) {
          if (primaryKey) waiting.add(primaryKey);
          return [];
        }
        return signature === item?.signature ? text : jsonOf({ ...item, signature });
      });
    };

    const withoutExpired = (items: readonly ItemText[], answer: Answer) => {
      const { outcome, message, rejected } = answer;
      // An upsert travels alone, and its request has no id.
      const isUpsert = outcome === 'rejected' && `${message}`.includes(TOKEN_EXPIRED);
      // The service's answers have no fixed form: `rejected` may be anything.
      const named = Array.isArray(rejected) ? rejected : [];
      const reasons = new Map<unknown, unknown>(named.map((one) => [one?.uuid, one?.reason]));
      const kept = items.filter((text) => (isUpsert || reasons.get(idOf(text)) === TOKEN_EXPIRED) && expire(text));
      if (!kept[0]) return [items, answer] as const;
      const ids = kept.map(idOf);
      return [
        items.filter((text) => !kept.includes(text)),
        { ...answer, rejected: named.filter((one) => !ids.includes(one?.uuid)) },
      ] as const;
    };
    return [ready, withoutExpired];
  };

/**
 * A plugin that renews identity tokens. If a token expires before its `$identify` or its properties arrive, clew keeps them, asks
 * for a new token and sends them with that. Other events do not wait. docs/identity.md explains it.
 *
 * @param getToken returns a new token of this customer from your server. If the person is no longer logged in, it returns
 * undefined, and clew drops the events that wait for the token. If the function throws or rejects, or returns an old or empty
 * token, clew emits `error` and asks again after a minute.
 * @example
 * renewTokens(async () => {
 *   const answer = await fetch('/token');
 *   if (answer.status === 401) return undefined; // logged out
 *   if (!answer.ok) throw new Error(`/token: ${answer.status}`); // the page of an error is no token
 *   return answer.text();
 * });
 * @throws TypeError if `getToken` is no function
 */
export const renewTokens = (getToken: Asking['getToken']): Plugin => {
  if (typeof getToken !== 'function') throw new TypeError('clew: renewTokens: expected a function');
  return ({ flush, on }, { renewBy, visitorId }) => {
    /** Names the renewal at work. An earlier one asks no more. */
    let current: object | undefined;
    const begin = () => {
      const mine = {};
      current = mine;
      // A refusal erases the queue.
      renewBy(createRenewal({ getToken, onToken: flush, isOver: () => current !== mine || !visitorId() }));
    };
    begin();
    // Consent after a refusal: nothing waits any more.
    const unlisten = on('change', (other) => other.visitorId || begin());
    return () => {
      unlisten();
      current = undefined;
    };
  };
};
