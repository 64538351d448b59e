import { v4 as uuid } from 'uuid';

/** Who the visitor is, as far as this origin knows. */
export interface Identity {
  /** The visitor's thread: a lower-case v4 UUID. */
  readonly correlationValue: string;
  /** The primary key that the thread has been identified with, by service. */
  readonly primaryKeys: Readonly<Record<string, string>>;
}

/** A new thread, or the one that is known already. */
export const newIdentity = (correlationValue = uuid()): Identity => ({ correlationValue, primaryKeys: {} });

/** What stands in the store if it is an identity, else `candidate`. */
export const identityOr = (candidate: Identity, stored: Identity | undefined): Identity =>
  typeof stored?.correlationValue === 'string' && stored.primaryKeys ? stored : candidate;

/**
 * The identity of the person with this primary key. Another person gets another thread, for the service would rename
 * or delete the first one's record; whoever is identified already stays as they are.
 */
export const identifyAs = (identity: Identity, service: string, primaryKey: string): Identity => {
  const known = identity.primaryKeys[service];
  if (known === primaryKey) return identity;
  const { correlationValue, primaryKeys } = known ? newIdentity() : identity;
  return { correlationValue, primaryKeys: { ...primaryKeys, [service]: primaryKey } };
};
