import { describe, expect, it } from 'vitest';
import { eventFault } from '../src/service/eventFault.ts';
import { isObject, joinUrl, kindOf, parseJson } from '../src/wire.ts';

const UUID = '01234567-89ab-4cde-8f01-23456789abcd';
const good = { uuid: UUID, event: 'seen', source: 'custom', correlationKey: '_id', correlationValue: UUID };

it.each([
  ['https://service.example', 'https://service.example/events/'],
  ['https://service.example/', 'https://service.example/events/'],
  ['https://service.example/v1//', 'https://service.example/v1/events/'],
  ['/clew', '/clew/events/'],
  ['', '/events/'],
])('joins %j and a path with exactly one slash between them', (base, url) => {
  expect(joinUrl(base, '/events/')).toBe(url);
});

it('parses JSON, and returns undefined for invalid text', () => {
  expect(parseJson('{"a":[1]}')).toEqual({ a: [1] });
  expect(parseJson('null')).toBeNull();
  for (const text of ['', '{', '<html>', 'undefined']) expect(parseJson(text)).toBeUndefined();
});

it('accepts no list and no null as an object', () => {
  expect([{}, Object.create(null)].map(isObject)).toEqual([true, true]);
  expect([null, undefined, [], 'text', 7, () => {}].map(isObject)).toEqual(Array(6).fill(false));
});

describe('an event from another program', () => {
  it.each<[string, object]>([
    ['without payload', good],
    ['without uuid', { ...good, uuid: undefined }],
    ['with a timestamp', { ...good, timestamp: '2026-01-31T12:00:00.000Z' }],
    ['with any payload', { ...good, payload: [null] }],
    ['with fields that nobody knows', { ...good, colour: 'red' }],
    ['that identifies', { ...good, event: '$identify', payload: { distinct_id: 'ann' } }],
  ])('%s is valid', (_what, event) => {
    expect(eventFault(event)).toBeUndefined();
  });

  it.each<[unknown, string]>([
    [null, 'expected an object, got null'],
    [undefined, 'expected an object, got nothing'],
    [[good], 'expected an object, got [{'],
    ['text', 'expected an object, got "text"'],
    [{ ...good, event: undefined }, 'event: expected a non-empty string, got nothing'],
    [{ ...good, event: '' }, 'event: expected a non-empty string, got ""'],
    [{ ...good, event: 7 }, 'event: expected a non-empty string, got 7'],
    [{ ...good, source: 'sdk' }, 'source: expected "custom", got "sdk"'],
    [{ ...good, correlationKey: 'id' }, 'correlationKey: expected "_id", got "id"'],
    [{ ...good, correlationValue: UUID.toUpperCase() }, 'correlationValue: expected a lower-case UUID'],
    [{ ...good, correlationValue: [UUID] }, 'correlationValue: expected a lower-case UUID'],
    [{ ...good, correlationValue: `${UUID}\n` }, 'correlationValue: expected a lower-case UUID'],
    [{ ...good, uuid: null }, 'uuid: expected a lower-case UUID, got null'],
    [{ ...good, uuid: 'x' }, 'uuid: expected a lower-case UUID, got "x"'],
    [{ ...good, timestamp: 7 }, 'timestamp: expected an ISO 8601 date and time, got 7'],
    [{ ...good, timestamp: 'yesterday' }, 'timestamp: expected an ISO 8601 date and time, got "yesterday"'],
    [{ ...good, event: '$identify' }, 'payload.distinct_id: expected a non-empty string, got nothing'],
    [{ ...good, event: '$identify', payload: { distinct_id: '' } }, 'payload.distinct_id: expected a non-empty string'],
    [{ ...good, event: '$identify', payload: { distinct_id: 42 } }, 'payload.distinct_id: expected a non-empty string'],
  ])('%j has a fault that names the field', (event, fault) => {
    expect(eventFault(event)).toContain(fault);
  });

  it('is shown in its fault only up to a useful length', () => {
    expect(eventFault({ ...good, source: 'x'.repeat(10_000) })?.length).toBeLessThan(200);
  });
});

it.each([
  ['', 'an empty string'],
  ['the-secret-key', 'a string'],
  [4711, 'a number'],
  [-1, '-1'],
  [Number.NaN, 'NaN'],
  [null, 'null'],
  [undefined, 'undefined'],
  [true, 'true'],
  [['the-secret-key'], 'an object'],
  [() => 'the-secret-key', 'a function'],
])('kindOf(%j) is %s, without text that may be secret', (value, kind) => {
  expect(kindOf(value)).toBe(kind);
});
