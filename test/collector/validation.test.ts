import { describe, expect, it } from 'vitest';
import { checkBatch, checkEvent, checkUpsert } from '../../demo/collector/validation.ts';

const UUID = '01234567-89ab-4cde-8f01-23456789abcd';
const good = { event: 'e', source: 'custom', correlationKey: '_id', correlationValue: UUID };
const identify = { ...good, event: '$identify', payload: { distinct_id: 'ada' } };

const errorOf = (checked: object) => ('error' in checked ? checked.error : 'nothing wrong');
/** The error for a batch whose fourth event is `event`. */
const batchError = (event: unknown) => errorOf(checkBatch({ batch: [good, good, good, event] }));

describe('the error names the field, what is expected and what was given', () => {
  const TEXT = 'a non-empty string';
  const KEY = 'a non-empty string of at most 500 characters';
  const ISO = 'a date and time in ISO 8601 such as "2026-01-31T12:00:00.000Z"';

  it.each<[string, unknown, string, string]>([
    ['event', undefined, TEXT, 'nothing'],
    ['event', '', TEXT, '""'],
    ['event', 7, TEXT, '7'],
    ['event', null, TEXT, 'null'],
    ['source', undefined, TEXT, 'nothing'],
    ['source', true, TEXT, 'true'],
    ['correlationKey', '', TEXT, '""'],
    ['correlationKey', [], TEXT, 'an array'],
    ['correlationValue', undefined, 'a lower-case UUID', 'nothing'],
    ['correlationValue', 'ABC', 'a lower-case UUID', '"ABC"'],
    ['correlationValue', UUID.toUpperCase(), 'a lower-case UUID', `"${UUID.toUpperCase()}"`],
    ['correlationValue', `${UUID}\n`, 'a lower-case UUID', `"${UUID}\\n"`],
    ['correlationValue', { $ne: 1 }, 'a lower-case UUID', 'an object'],
    ['uuid', 'x'.repeat(1000), 'a UUID', `"${'x'.repeat(60)}"… (1000 characters)`],
    ['uuid', null, 'a UUID', 'null'],
    ['timestamp', 1_700_000_000_000, ISO, '1700000000000'],
    ['timestamp', '2026-01-31', ISO, '"2026-01-31"'],
    ['timestamp', '2026-01-31 12:00:00Z', ISO, '"2026-01-31 12:00:00Z"'],
    ['timestamp', '2026-01-31T12:00:00', ISO, '"2026-01-31T12:00:00"'],
    ['timestamp', '2026-02-30T12:00:00Z', ISO, '"2026-02-30T12:00:00Z"'],
    ['timestamp', '2026-01-31T25:00:00Z', ISO, '"2026-01-31T25:00:00Z"'],
    ['timestamp', '0000-01-01T00:00:00Z', ISO, '"0000-01-01T00:00:00Z"'],
    ['timestamp', '0001-01-01T00:00:00+01:00', ISO, '"0001-01-01T00:00:00+01:00"'],
    ['timestamp', '9999-12-31T23:59:59-01:00', ISO, '"9999-12-31T23:59:59-01:00"'],
    ['timestamp', 'yesterday', ISO, '"yesterday"'],
  ])('batch[3].%s: %j', (field, value, expected, received) => {
    const error = batchError(JSON.parse(JSON.stringify({ ...good, [field]: value })));
    expect(error).toBe(`batch[3].${field}: expected ${expected}, received ${received}`);
  });

  it.each<[unknown, string, string]>([
    [undefined, 'payload.distinct_id', 'nothing'],
    ['ada', 'payload.distinct_id', 'nothing'],
    [{}, 'payload.distinct_id', 'nothing'],
    [{ distinct_id: '' }, 'payload.distinct_id', '""'],
    [{ distinct_id: 42 }, 'payload.distinct_id', '42'],
    [{ distinct_id: null }, 'payload.distinct_id', 'null'],
    [{ distinct_id: { id: 1 } }, 'payload.distinct_id', 'an object'],
    [{ distinct_id: 'a'.repeat(501) }, 'payload.distinct_id', `"${'a'.repeat(60)}"… (501 characters)`],
  ])('$identify in a batch with the payload %j', (payload, field, received) => {
    expect(batchError({ ...identify, payload })).toBe(`batch[3].${field}: expected ${KEY}, received ${received}`);
  });

  it.each<[unknown, string]>([
    [null, 'batch[3]: expected an object, received null'],
    ['e', 'batch[3]: expected an object, received "e"'],
    [[good], 'batch[3]: expected an object, received an array'],
    [{ ...good, payload: { n: Infinity } }, 'batch[3].payload: expected numbers below 1.8e308, received an object'],
  ])('%j as an event', (event, error) => {
    expect(batchError(event)).toBe(error);
  });

  it.each<[unknown, string]>([
    [{}, 'batch: expected an array of events, received nothing'],
    [{ batch: {} }, 'batch: expected an array of events, received an object'],
    [{ batch: null }, 'batch: expected an array of events, received null'],
    [[], 'body: expected an object, received an array'],
    [null, 'body: expected an object, received null'],
    ['batch', 'body: expected an object, received "batch"'],
  ])('%j as a batch', (body, error) => {
    expect(errorOf(checkBatch(body))).toBe(error);
  });

  it.each<[unknown, string]>([
    [{}, `primary_key: expected ${KEY}, received nothing`],
    [{ primary_key: '' }, `primary_key: expected ${KEY}, received ""`],
    [{ primary_key: 5 }, `primary_key: expected ${KEY}, received 5`],
    [{ primary_key: 'a', properties: [] }, 'properties: expected an object, received an array'],
    [{ primary_key: 'a', properties: null }, 'properties: expected an object, received null'],
    [{ primary_key: 'a', properties: 'b' }, 'properties: expected an object, received "b"'],
    // JSON has no Infinity: it would arrive as null, and null deletes a property.
    [
      JSON.parse('{"primary_key":"a","properties":{"n":1e999}}'),
      'properties: expected numbers below 1.8e308, received an object',
    ],
  ])('%j as an upsert', (body, error) => {
    expect(errorOf(checkUpsert(body))).toBe(error);
  });

  it('has no place in the batch for a single event', () => {
    expect(errorOf(checkEvent({ ...good, correlationValue: 'ABC' }))).toBe(
      'correlationValue: expected a lower-case UUID, received "ABC"',
    );
  });
});

describe('validation', () => {
  it('drops unknown fields of an event', () => {
    const checked = checkBatch({ batch: [{ ...good, uuid: UUID, timestamp: '2026-01-31T12:00:00Z', extra: 1 }] });
    expect(checked).toEqual({ value: [{ ...good, uuid: UUID, timestamp: '2026-01-31T12:00:00.000Z' }] });
  });

  it('accepts any payload of an $identify on the single-event endpoint', () => {
    expect(errorOf(checkEvent({ ...identify, payload: 7 }))).toBe('nothing wrong');
  });

  it('accepts any version of UUID for an event', () => {
    expect(checkEvent({ ...good, uuid: 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF' })).toMatchObject({
      value: { uuid: 'ffffffff-ffff-ffff-ffff-ffffffffffff' },
    });
  });
});
