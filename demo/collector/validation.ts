import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { IDENTIFY, type Upsert } from '../../src/wire.ts';
import { anything, isObject, key, lowerCaseUuid, object, plainObject, text, timestamp, uuid } from './fields.ts';

/** A valid event, complete and in a form that the database can store. */
export interface CheckedEvent {
  uuid: string;
  timestamp: string;
  event: string;
  source: string;
  correlationKey: string;
  correlationValue: string;
  payload?: unknown;
  /** The primary key to tie the visitor id to, if the event is an `$identify` in a batch. */
  identifies?: string;
}

export type Checked<T> = { value: T } | { error: string };

const common = {
  uuid: v.optional(uuid),
  event: text,
  source: text,
  correlationKey: text,
  correlationValue: lowerCaseUuid,
  payload: anything,
};

const complete = <T extends { uuid?: string | undefined; timestamp?: string | undefined }>(event: T) => ({
  ...event,
  uuid: event.uuid ?? randomUUID(),
  timestamp: event.timestamp ?? new Date().toISOString(),
});

const batchEvent = v.pipe(
  object({ ...common, timestamp: v.optional(timestamp) }),
  v.rawTransform<CommonEvent, CheckedEvent>(({ dataset: { value: event }, addIssue, NEVER }) => {
    if (event.event !== IDENTIFY) return complete(event);
    const distinctId = isObject(event.payload) ? event.payload.distinct_id : undefined;
    const found = v.safeParse(key, distinctId);
    if (found.success) return { ...complete(event), identifies: found.output };
    addIssue({ message: found.issues[0].message, input: distinctId, path: pathTo(event, distinctId) });
    return NEVER;
  }),
);
interface CommonEvent extends Omit<CheckedEvent, 'uuid' | 'timestamp'> {
  uuid?: string | undefined;
  timestamp?: string | undefined;
}

const pathTo = (event: CommonEvent, distinctId: unknown): [v.IssuePathItem, v.IssuePathItem] => [
  { type: 'unknown', origin: 'value', input: event, key: 'payload', value: event.payload },
  { type: 'unknown', origin: 'value', input: event.payload, key: 'distinct_id', value: distinctId },
];

const batchBody = object({ batch: v.array(batchEvent, 'an array of events') });
/** A single event has no `timestamp`, because its time is that of its arrival. An `$identify` has no effect here. */
const eventBody = v.pipe(object(common), v.transform(complete));
const upsertBody = object({ primary_key: key, properties: v.optional(plainObject) });

export const checkBatch = (body: unknown): Checked<CheckedEvent[]> => {
  const checked = check(batchBody, body);
  return 'value' in checked ? { value: checked.value.batch } : checked;
};
export const checkEvent = (body: unknown): Checked<CheckedEvent> => check(eventBody, body);
export const checkUpsert = (body: unknown): Checked<Upsert> => {
  const checked = check(upsertBody, body);
  if ('error' in checked) return checked;
  const { primary_key, properties } = checked.value;
  return { value: { primary_key, ...(properties && { properties }) } };
};

/** Checks `body` against `schema`. The error names the first wrong field, the expected value and the received value. */
export function check<T>(schema: v.GenericSchema<unknown, T>, body: unknown): Checked<T> {
  const { success, output, issues } = v.safeParse(schema, body, { abortEarly: true, abortPipeEarly: true });
  if (success) return { value: output };
  const [{ path, message, input }] = issues;
  return { error: `${describePath(path)}: expected ${message}, received ${show(input)}` };
}

const describePath = (path: v.IssuePathItem[] = []): string =>
  path
    .map(({ key }) => (typeof key === 'number' ? `[${key}]` : `.${key}`))
    .join('')
    .replace(/^\./, '') || 'body';

const MAX_SHOWN = 60;
function show(input: unknown): string {
  if (input === undefined) return 'nothing';
  if (Array.isArray(input)) return 'an array';
  if (isObject(input)) return 'an object';
  if (typeof input !== 'string' || input.length <= MAX_SHOWN) return JSON.stringify(input);
  return `${JSON.stringify(input.slice(0, MAX_SHOWN))}… (${input.length} characters)`;
}
