import { createEarly } from './early.js';
import { createEpochs } from './epochs.js';
import type { Held } from './held.js';
import { createHint } from './hint.js';
import { ASKING, AWAY, type Life, MISSING, WAITING } from './life.js';
import type { VisitorPorts } from './ports.js';
import { markOf, type Visitor } from './record.js';
import { createWaiters } from './waiters.js';
import type { Who } from './who.js';

/** The values that the parts of the visitor share. */
export interface Desk {
  readonly ports: VisitorPorts;
  readonly hints: ReturnType<typeof createHint>;
  readonly epochs: ReturnType<typeof createEpochs>;
  /** Upserts from before `identify`. */
  readonly early: ReturnType<typeof createEarly>;
  readonly waiters: ReturnType<typeof createWaiters>;
  life: Life;
  /** Undefined before the page may know the visitor, and after a refusal. */
  who: Who | undefined;
  /** Calls that wait for the visitor. */
  held: Held;
  /** The last transaction, until it is done. */
  asking: Promise<void> | undefined;
}

export const createDesk = (ports: VisitorPorts): Desk => {
  const { service, store, given } = ports;
  const epochs = createEpochs(service, store.local);
  return {
    ports,
    hints: createHint(service, store.local),
    epochs,
    early: createEarly(service, store.local, epochs.isOver),
    waiters: createWaiters(),
    life: { at: WAITING, firstId: given || undefined },
    who: undefined,
    held: { calls: [], size: 0 },
    asking: undefined,
  };
};

/** Whether the page is at this point of its life. */
export const is = ({ life }: Desk, at: Life['at']): boolean => life.at === at;

/** The primary key, or its mark if this page does not know the key. */
export const keyOf = ({ ports }: Desk, visitor: Visitor | undefined): string | number | undefined =>
  visitor?.keys[ports.service]?.[0];

/** Whether this is the customer of the visitor. */
export const isCustomer = (desk: Desk, key: unknown): boolean =>
  typeof key === 'string' && [key, markOf(key)].includes(keyOf(desk, desk.who?.visitor) as string);

/**
 * Another page has erased the mark of this service, as a refusal does, and this page got no message. Only the database shows
 * whether the visitor has refused. Until it has answered, this page stores and sends nothing.
 */
export const isMissing = ({ life, who, epochs }: Desk): boolean =>
  life.doubt === MISSING ||
  ((life.at === AWAY || !!life.isSure) && epochs.isMarkErased(!!who?.seen || !!life.isStopped));

/** Whether this page is back, and asks the database whether the visitor has refused. Such a page stores and sends nothing. */
export const isInDoubt = (desk: Desk): boolean => is(desk, ASKING) && !!desk.life.doubt;

/** Whether the visitor may have refused while this page was away. */
export const isDoubtful = (desk: Desk): boolean => is(desk, AWAY) && isMissing(desk);
