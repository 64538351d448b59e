import { type ItemText, isEvent, isIdentify } from '../recorder/event.js';
import { type Identity, learn, markOf, newVisitor, type Visitor, versionAt } from './record.js';

/** A call that needs to know the visitor: an event, an upsert, or a change of the visitor. All ids are made at the time of the call. */
export interface Call {
  /** The event or the upsert, without its visitor. For a change by `identify`, the `$identify`. */
  readonly text?: ItemText | undefined;
  /** A change of the visitor: the visitor id that it begins, if it has to begin one. Without `key`, it is a `reset`. */
  readonly fresh?: string | undefined;
  readonly key?: string | undefined;
  /** When it was made, in ms since the epoch. The text of an event has its time. */
  readonly at?: number | undefined;
  readonly signature?: string | undefined;
  /** The visitor id of an upsert from before `identify`. No other visitor id's customer gets it. */
  readonly owner?: unknown;
  /** The `$identify` of `key` with this visitor id was dropped. */
  readonly dropped?: string | undefined;
  /** Another tab or another host knows this visitor. */
  readonly visitor?: Visitor | undefined;
  /** The item of the call, if the item does not depend on the visitor any more. */
  readonly finished?: Finished | undefined;
}

/** The visitor of an item: the visitor id, or the customer of an upsert. An upsert from before `identify` has the visitor id. */
export type Known = Readonly<Record<string, unknown>>;
export type Finished = readonly [text: ItemText, known: Known];

/** Whether this is an upsert that waits for its customer. */
export const isEarly = ([text, { primary_key }]: Finished): boolean => !isEvent(text) && !primary_key;

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

/**
 * An upsert with its customer, if the visitor is identified. After a dropped `$identify`, it waits for the next one.
 *
 * @param owner the visitor id under which it has waited
 */
export const upsertOf = (
  visitor: Visitor,
  text: ItemText,
  owner: unknown = visitor.thread,
  service: string,
): Finished => {
  const [known, proof, isUnsent] = visitor.keys[service] ?? [];
  const isDue = owner === visitor.thread && !isUnsent;
  const isKnown = typeof known === 'string' && isDue;
  return [text, isKnown ? { primary_key: known, signature: proof ?? undefined } : { correlationValue: owner }];
};

/** The visitor after a call, and the item that the call makes. */
export const apply = (visitor: Visitor, call: Call, service: string): [Visitor, Finished?] => {
  const { text, fresh, key, dropped, owner } = call;
  if (call.finished) return [visitor, call.finished];
  const [known, proof] = visitor.keys[service] ?? [];
  if (call.visitor) return [learn(visitor, call.visitor)];
  if (dropped) {
    const keys = { ...visitor.keys, [service]: [key, proof, true] as Identity };
    return [dropped === visitor.thread && known === key ? { ...visitor, keys } : visitor];
  }
  if (fresh) return key ? identify(visitor, call, service) : [newVisitor(visitor, fresh, call.at)];
  if (isEvent(text as ItemText)) return [visitor, [text as ItemText, { correlationValue: visitor.thread }]];
  return [visitor, upsertOf(visitor, text as ItemText, owner, service)];
};

/**
 * Finishes calls in order, from one visitor to the next. An upsert from before `identify` follows the `$identify` of its visitor id.
 *
 * @param isSure the visitor comes from the database. Otherwise it may have been identified without this page's knowledge: an upsert
 * without a customer, and the calls after it, are left.
 * @returns the last visitor, the items, and the number of finished calls. Items may have upserts that still wait for their customer.
 */
export const finish = (
  from: Visitor,
  calls: readonly Call[],
  service: string,
  isSure = true,
): [visitor: Visitor, items: Finished[], count: number] => {
  let visitor = from;
  let count = 0;
  let items: Finished[] = [];
  for (const call of calls) {
    const [next, item] = apply(visitor, call, service);
    if (item && isEarly(item) && !isSure) break;
    visitor = next;
    count++;
    if (item) items.push(item);
    const early = isChange(call) ? items.filter(isEarly) : [];
    if (!early[0]) continue;
    const known = early.map(([text, { correlationValue }]) => upsertOf(visitor, text, correlationValue, service));
    items = [...items.filter((one) => !isEarly(one)), ...known];
  }
  return [visitor, items, count];
};
