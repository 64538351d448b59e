import { type ItemText, isEvent, isIdentify, stamp } from '../recorder/event.js';
import { parseJson } from '../wire.js';
import { type Identity, learn, markOf, newVisitor, type Visitor, versionAt } from './record.js';

/** A call that needs to know the visitor: an event, an upsert, or a change of the visitor. It has its ids from the call. */
export interface Call {
  /** The event or the upsert, without its visitor. For a change by `identify`, the `$identify`. */
  readonly text?: ItemText | undefined;
  /** A change of the visitor: the visitor id that it begins, if it has to begin one. Without `key`, it is a `reset`. */
  readonly fresh?: string | undefined;
  readonly key?: string | undefined;
  /** When it was made, in ms since the epoch. The text of an event has its time. */
  readonly at?: number | undefined;
  readonly signature?: string | undefined;
  /** The `$identify` of `key` with this visitor id was dropped. */
  readonly dropped?: string | undefined;
  /** Another tab or another host knows this visitor. */
  readonly visitor?: Visitor | undefined;
  /** Its item, if that does not depend on the visitor any more. */
  readonly finished?: Finished | undefined;
}

/** The visitor of an item. Undefined for an upsert without an identified customer. */
type Known = Readonly<Record<string, unknown>> | undefined;
export type Finished = readonly [text: ItemText, known: Known];

/** Events that wait. A call that changes the visitor has no event that counts. */
export const eventsIn = (calls: readonly Call[]): ItemText[] =>
  calls.flatMap(({ text }) => (text && !isIdentify(text) ? text : []));

/** Whether the call changes the visitor. */
export const isChange = ({ fresh, dropped, visitor }: Call): boolean => !!(fresh || dropped || visitor);

const identify = (
  visitor: Visitor,
  { text, fresh, key, signature, at = 0 }: Call,
  service: string,
): [Visitor, Finished?] => {
  const [known, proof, isUnsent] = visitor.keys[service] ?? [];
  const isSame = known === key || known === markOf(key as string);
  if (known === key && !isUnsent && (!signature || proof === signature)) return [visitor];
  // The service would rename or delete the first person's record if a second one came by the same id.
  const person = known !== undefined && !isSame ? newVisitor(visitor, fresh, at) : visitor;
  const identity: Identity = [key as string, signature];
  const turn = Math.max(person.turn, versionAt(at));
  const after = { ...person, turn, keys: { ...person.keys, [service]: identity } };
  const isNew = !isSame || isUnsent;
  return isNew ? [after, [text as ItemText, { correlationValue: after.thread, signature }]] : [after];
};

/** The visitor after a call, and the item that the call makes. */
export const apply = (visitor: Visitor, call: Call, service: string): [Visitor, Finished?] => {
  const { text, fresh, key, dropped } = call;
  if (call.finished) return [visitor, call.finished];
  const [known, proof] = visitor.keys[service] ?? [];
  if (call.visitor) return [learn(visitor, call.visitor)];
  if (dropped) {
    const keys = { ...visitor.keys, [service]: [key, proof, true] as Identity };
    return [dropped === visitor.thread && known === key ? { ...visitor, keys } : visitor];
  }
  if (fresh) return key ? identify(visitor, call, service) : [newVisitor(visitor, fresh, call.at)];
  if (isEvent(text as ItemText)) return [visitor, [text as ItemText, { correlationValue: visitor.thread }]];
  const isKnown = typeof known === 'string';
  return [visitor, [text as ItemText, isKnown ? { primary_key: known, signature: proof ?? undefined } : undefined]];
};

/**
 * Finishes calls in order, from one visitor to the next.
 *
 * @param isSure the visitor comes from the database. Otherwise it may have been identified without this page's knowledge: an upsert
 * without a customer, and the calls after it, are left.
 * @returns the last visitor, the finished items, and the number of finished calls
 */
export const finish = (
  from: Visitor,
  calls: readonly Call[],
  service: string,
  isSure = true,
): [visitor: Visitor, items: Finished[], count: number] => {
  let visitor = from;
  let count = 0;
  const items: Finished[] = [];
  for (const call of calls) {
    const [next, item] = apply(visitor, call, service);
    if (item && !item[1] && !isSure) break;
    visitor = next;
    count++;
    if (item) items.push(item);
  }
  return [visitor, items, count];
};

/** Completes an item that a page has left, because an upsert may lack its customer. Returns '' if no customer is identified. */
export const complete = (text: ItemText, visitor: Visitor, service: string): ItemText | '' => {
  if (isEvent(text) || parseJson<{ primary_key?: unknown }>(text)?.primary_key) return text;
  const [, known] = apply(visitor, { text }, service)[1] as Finished;
  return known ? stamp(text, known) : '';
};
