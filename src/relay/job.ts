import { dataFault, eventFault, keyFault } from '../service/eventFault.js';
import {
  BATCH_PATH,
  EVENT_PATH,
  IDENTIFY,
  isObject,
  type Rejections,
  TOKEN_EXPIRED,
  UPSERT_PATH,
  type WireEvent,
} from '../wire.js';
import type { CheckIdentity, IdentityFault } from './identity.js';
import { propertyFault } from './properties.js';
import { Refusal } from './request.js';

/** One of the service's three paths. */
export type ServicePath = typeof UPSERT_PATH | typeof BATCH_PATH | typeof EVENT_PATH;

/** A checked request. */
export interface Job {
  readonly path: ServicePath;
  /** The request's valid events. An upsert has none. */
  readonly events: readonly RelayedEvent[];
  readonly rejected: Rejections['rejected'];
  /** The events as they arrived for which `rejected` has a reason, in its order. Anything may be in them. */
  readonly refused: readonly unknown[];
  /** Those of `refused` that are valid apart from their identity. The service may have them: a token expires. */
  readonly doubted: readonly DoubtedEvent[];
  /** The body that forwards these events: all of `events`, or some of them. Undefined if there is nothing to forward. */
  bodyOf(events: readonly RelayedEvent[]): string | undefined;
}

/** An event as it arrived, and its forwarded form with only the fields of the service's contract. */
export interface RelayedEvent {
  readonly came: WireEvent;
  readonly forwarded: { readonly [Field in keyof Omit<WireEvent, 'seq' | 'signature'>]: WireEvent[Field] | undefined };
  /** The event's `timestamp` as it is forwarded, in ms since the epoch. NaN without one. */
  readonly time: number;
}

/** A valid `$identify` whose identity the relay does not trust. */
export interface DoubtedEvent extends RelayedEvent {
  readonly doubt: Doubt;
}

interface Doubt {
  /** The reason that the page gets. */
  readonly reason: string;
  /** The reason for the operator. Undefined if the relay trusts no identities. */
  readonly fault?: IdentityFault;
}

/** How the relay checks identities. */
export interface Checks {
  /** Undefined without a secret and without keys. */
  readonly checkIdentity: CheckIdentity | undefined;
  /** There are keys, so a page is to send a token. */
  readonly isTokenExpected: boolean;
  /** Receives why an identity is refused. The page gets less. */
  readonly onRefusal: (fault: IdentityFault) => void;
  readonly allowUnsignedIdentify: boolean;
  readonly allowUnsignedUpsert: boolean;
  /** Undefined if pages may set any property. */
  readonly allowedProperties: readonly string[] | undefined;
  /** Most events of a batch. */
  readonly maxBatchEvents: number;
}

/** A UUID has so many characters. No longer one is repeated in an answer. */
const ID_LENGTH = 36;

const NO_SECRET =
  'signature: expected the relay option identityKeys, identitySecret or allowUnsignedIdentify, which accept identities';
const UNSIGNED = 'signature: expected HMAC-SHA256 of the primary key, in hex, made with the identity secret';
const NO_TOKEN = 'signature: expected an identity token that the relay accepts. Its log has the reason';

/** An event from a page, and what is forwarded of it. */
export const relayed = (came: WireEvent): RelayedEvent => {
  const { uuid, timestamp, event, source, correlationKey, correlationValue, payload } = came;
  // `JSON.stringify` omits undefined fields.
  const forwarded = { uuid, timestamp, event, source, correlationKey, correlationValue, payload };
  return { came, forwarded, time: Date.parse(timestamp ?? '') };
};

/** A new token helps: this one has expired, or its key was rotated or revoked meanwhile. */
const RENEWABLE: readonly IdentityFault[] = ['expired', 'unknown_key', 'revoked_key'];

/** The reason that the page gets for a refused identity. */
const reasonOf = (fault: IdentityFault, { isTokenExpected }: Checks): string => {
  // The tracker can ask the app for a new token. Anything else would help to forge one.
  if (RENEWABLE.includes(fault)) return TOKEN_EXPIRED;
  return isTokenExpected ? NO_TOKEN : UNSIGNED;
};

/** Why the relay does not trust a valid `$identify`, or undefined. */
const doubtOf = async ({ payload, signature }: WireEvent, checks: Checks): Promise<Doubt | undefined> => {
  if (checks.allowUnsignedIdentify) return;
  if (!checks.checkIdentity) return { reason: NO_SECRET };
  const proof = await checks.checkIdentity((payload as { distinct_id: string }).distinct_id, signature);
  return typeof proof === 'string' ? { reason: reasonOf(proof, checks), fault: proof } : undefined;
};

/** Takes back the refusal of these duplicates. The relay trusted their identity when it forwarded them. */
export const acceptRepeats = (job: Job, repeats: readonly RelayedEvent[]): Job => {
  if (!job.doubted[0]) return job;
  const known = new Set<unknown>(repeats.map(({ came }) => came));
  return {
    ...job,
    rejected: job.rejected.filter((_, at) => !known.has(job.refused[at])),
    refused: job.refused.filter((event) => !known.has(event)),
    doubted: job.doubted.filter(({ came }) => !known.has(came)),
  };
};

const sift = async (
  events: readonly unknown[],
  checks: Checks,
): Promise<Pick<Job, 'events' | 'rejected' | 'refused' | 'doubted'>> => {
  const good: RelayedEvent[] = [];
  const rejected: Rejections['rejected'] = [];
  const refused: unknown[] = [];
  const doubted: DoubtedEvent[] = [];
  for (const event of events) {
    let reason = eventFault(event);
    // An `await` for each event would cost a microtask, so only `$identify` awaits.
    if (!reason && (event as WireEvent).event === IDENTIFY) {
      const doubt = await doubtOf(event as WireEvent, checks);
      if (doubt) doubted.push({ ...relayed(event as WireEvent), doubt });
      reason = doubt?.reason;
    }
    if (!reason) good.push(relayed(event as WireEvent));
    else {
      const uuid =
        isObject(event) && typeof event.uuid === 'string' && event.uuid.length <= ID_LENGTH ? event.uuid : '';
      rejected.push({ uuid, reason });
      refused.push(event);
    }
  }
  return { events: good, rejected, refused, doubted };
};

const checkUpsert = async (body: Record<string, unknown>, checks: Checks) => {
  const { checkIdentity, allowUnsignedUpsert, allowedProperties } = checks;
  const { primary_key, properties, signature } = body;
  if (!checkIdentity && !allowUnsignedUpsert)
    throw new Refusal(
      422,
      'expected the relay option identityKeys, identitySecret or allowUnsignedUpsert, which accept customer properties',
    );
  const key = keyFault(primary_key);
  if (key) throw new Refusal(400, `primary_key: ${key}`);
  if (properties !== undefined && !isObject(properties)) throw new Refusal(400, 'properties: expected an object');
  const data = dataFault(properties);
  if (data) throw new Refusal(400, `properties${data}`);
  const proof = (!allowUnsignedUpsert && (await checkIdentity?.(primary_key as string, signature))) || {};
  if (typeof proof === 'string') {
    checks.onRefusal(proof);
    throw new Refusal(422, reasonOf(proof, checks));
  }
  const forbidden = propertyFault(properties ?? {}, proof, allowedProperties);
  if (forbidden !== undefined) {
    if (checks.isTokenExpected) checks.onRefusal('property');
    throw new Refusal(422, forbidden);
  }
  return { primary_key, properties };
};

/** Checks a request to `address`. Throws a `Refusal` that names what was expected. */
export const jobOf = async (address: string, body: Record<string, unknown>, checks: Checks): Promise<Job> => {
  const withSlash = (path: string) => (path.endsWith('/') ? path : `${path}/`);
  const path = ([UPSERT_PATH, BATCH_PATH, EVENT_PATH] as const).find((known) =>
    withSlash(address).endsWith(withSlash(known)),
  );
  switch (path) {
    case UPSERT_PATH: {
      const upsert = JSON.stringify(await checkUpsert(body, checks));
      return { path, events: [], rejected: [], refused: [], doubted: [], bodyOf: () => upsert };
    }
    case BATCH_PATH:
      if (!Array.isArray(body.batch)) throw new Refusal(400, 'batch: expected an array of events');
      if (body.batch.length > checks.maxBatchEvents)
        throw new Refusal(413, `batch: expected at most ${checks.maxBatchEvents} events, got ${body.batch.length}`);
      return {
        path,
        ...(await sift(body.batch, checks)),
        bodyOf: (events) => events[0] && JSON.stringify({ batch: events.map(({ forwarded }) => forwarded) }),
      };
    case EVENT_PATH:
      return {
        path,
        ...(await sift([body], checks)),
        bodyOf: ([event]) => event && JSON.stringify({ ...event.forwarded, timestamp: undefined }),
      };
    default:
      throw new Refusal(404, 'path: expected /api/customers/upsert, /api/events/batch/ or /events/');
  }
};
