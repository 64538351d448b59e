import { v4 as uuid } from 'uuid';
import type { Store } from '../pipeline/store.js';

/** Who the visitor is, as far as this origin knows. */
export interface Identity {
  /** The visitor's thread: a lower-case v4 UUID. */
  readonly correlationValue: string;
  /** The primary key that the thread has been identified with, by service. */
  readonly primaryKeys: Readonly<Record<string, string>>;
}

/** The record's name in the store. */
export const IDENTITY = 'identity';

const isIdentity = (value: Identity | undefined): value is Identity =>
  typeof value?.correlationValue === 'string' && typeof value.primaryKeys === 'object';

/** A new thread, or the one that is known from elsewhere. */
export const newIdentity = (correlationValue: string = uuid()): Identity => ({ correlationValue, primaryKeys: {} });

/** The origin's identity: made once, by whichever tab comes first. */
export const loadIdentity = (store: Store, candidate: Identity): Promise<Identity> =>
  store.update<Identity>(IDENTITY, (old) => (isIdentity(old) ? old : candidate));

/**
 * The identity of the person with this primary key. Another person gets another thread, for the service would merge
 * or delete the first one's record; whoever is identified already stays as they are.
 */
export const identified = (identity: Identity, service: string, primaryKey: string): Identity => {
  const known = identity.primaryKeys[service];
  if (known === primaryKey) return identity;
  const { correlationValue, primaryKeys } = known === undefined ? identity : newIdentity();
  return { correlationValue, primaryKeys: { ...primaryKeys, [service]: primaryKey } };
};
