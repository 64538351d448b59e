import { type ItemText, isEvent, renewed } from '../recorder/event.js';
import { type Identity, markOf, merge, newVisitor, type Visitor } from './record.js';

/**
 * A call that needs to know the visitor: an event or an upsert, or a change of the visitor. It is plain JSON, and has its ids
 * from the call, so that the journal can keep it and another page can finish it with the same result.
 */
export interface Held {
  /** The number of the call among those of its page that had to wait, from 1. */
  readonly index: number;
  /** When it was called, in ms since the epoch. */
  readonly at: number;
  /** The event or the upsert, without its visitor. For a change by `identify`, the `$identify`. */
  readonly text?: ItemText | undefined;
  /** A change of the visitor: the visitor id that it begins, if it has to begin one. Without `key`, it is a `reset`. */
  readonly fresh?: string | undefined;
  readonly key?: string | undefined;
  readonly signature?: string | undefined;
  /** The visitor id under which the `$identify` has been handed over already, by a page that was not sure. */
  readonly given?: string | undefined;
  /** Who the visitor is at this point, as far as the page knows. */
  readonly visitor?: Visitor | undefined;
  /** The `$identify` of `key` with this visitor id was dropped. */
  readonly dropped?: string | undefined;
}

/** Events that wait. What belongs to a change of the visitor does not count. */
export const eventsIn = (calls: readonly Pick<Held, 'text' | 'fresh'>[]): ItemText[] =>
  calls.flatMap(({ text, fresh }) => (text && !fresh ? text : []));

/** Whether the call changes the visitor. */
export const isChange = ({ fresh, dropped, visitor }: Pick<Held, 'fresh' | 'dropped' | 'visitor'>): boolean =>
  !!(fresh || dropped || visitor);

/** What an item says of its visitor. Without it, nobody is identified whom the upsert could concern. */
type Known = Readonly<Record<string, unknown>> | undefined;
export type Finished = readonly [text: ItemText, known: Known];

const identify = (visitor: Visitor, { fresh, key, signature }: Held, service: string): [Visitor, isNew: boolean] => {
  const [known, proof, isUnsent] = visitor.keys[service] ?? [];
  const isSame = known === key || known === markOf(key as string);
  if (known === key && !isUnsent && (!signature || proof === signature)) return [visitor, false];
  // The service would rename or delete the first person's record if a second one came by the same id.
  const person = known !== undefined && !isSame ? newVisitor(visitor, fresh) : visitor;
  const identity: Identity = [key as string, signature];
  return [{ ...person, keys: { ...person.keys, [service]: identity } }, !isSame || !!isUnsent];
};

/**
 * Finishes calls in order, from one visitor to the next.
 *
 * @param isSure the visitor comes from the database. Otherwise it may have been identified without this page's knowledge, and an
 * upsert that knows no customer, and what follows it, is left to a page that has asked the database.
 * @returns the last visitor, and the finished items
 */
export const finish = (
  from: Visitor,
  calls: readonly Held[],
  service: string,
  isSure = true,
): [visitor: Visitor, items: Finished[]] => {
  let visitor = from;
  const items: Finished[] = [];
  for (const call of calls) {
    const { text, fresh, key, signature, dropped } = call;
    const identity = visitor.keys[service];
    if (call.visitor) visitor = merge(visitor, call.visitor);
    else if (dropped) {
      const isOurs = dropped === visitor.thread && identity?.[0] === key;
      const keys = { ...visitor.keys, [service]: [key, identity?.[1], true] as Identity };
      if (isOurs) visitor = { ...visitor, keys };
    } else if (fresh && !key) visitor = newVisitor(visitor, fresh);
    else if (fresh) {
      const [next, isNew] = identify(visitor, call, service);
      visitor = next;
      const isElsewhere = call.given && call.given !== visitor.thread;
      // A relay drops the same event with another id: both ids are this person's, so both are to be identified.
      if (isNew && text)
        items.push([isElsewhere ? renewed(text) : text, { correlationValue: visitor.thread, signature }]);
    } else if (text && isEvent(text)) items.push([text, { correlationValue: visitor.thread }]);
    else if (text) {
      const [primary_key, proof] = identity ?? [];
      const isKnown = typeof primary_key === 'string';
      if (!isSure && !isKnown) break;
      items.push([text, isKnown ? { primary_key, signature: proof ?? undefined } : undefined]);
    }
  }
  return [visitor, items];
};
