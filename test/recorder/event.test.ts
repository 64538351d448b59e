// @module-tag promise
import { describe, expect, it } from 'vitest';
import {
  byteLength,
  draftEvent,
  draftUpsert,
  idOf,
  isEvent,
  isItem,
  singleBody,
  stamp,
  upsertBody,
} from '../../src/recorder/event.ts';
import { makeListsText } from '../support/oldLibrary.ts';
import { AT, eventText, upsertText, VISITOR_ID } from './items.ts';

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('an event', () => {
  it('has every field of the contract, and a lower-case v4 UUID of its own', () => {
    expect(JSON.parse(eventText('signup', { plan: 'pro' }))).toEqual({
      uuid: expect.stringMatching(UUID_V4),
      timestamp: '2026-01-31T12:30:15.007Z',
      event: 'signup',
      source: 'custom',
      correlationKey: '_id',
      correlationValue: VISITOR_ID,
      payload: { plan: 'pro' },
    });
    expect(idOf(eventText())).not.toBe(idOf(eventText()));
  });

  it('has the same id and kind before and after it gets its visitor id', () => {
    const draft = draftEvent(AT, 'seen');
    const text = stamp(draft, { correlationValue: VISITOR_ID });
    for (const known of [draft, text]) {
      expect(idOf(known)).toBe(JSON.parse(known).uuid);
      expect(isEvent(known)).toBe(true);
    }
  });

  it('keeps its number on a page whose library makes texts of lists', () => {
    makeListsText();
    const { seq, payload } = JSON.parse(stamp(eventText('added', { cart: ['book'] }), { seq: [3, 1] }));
    expect(seq).toEqual([3, 1]);
    // The page's library makes a text of the page's own list. clew does not undo that.
    expect(payload).toEqual({ cart: '["book"]' });
  });

  it.each([
    ['after the year 9999', 1e15, '9999-12-31T23:59:59.999Z'],
    ['before the year 0', -1e15, '0000-01-01T00:00:00.000Z'],
    ['before 1970', -1, '1969-12-31T23:59:59.999Z'],
    ['without a number, as on a page that has replaced Date.now', Number.NaN, '1970-01-01T00:00:00.000Z'],
    ['as text', '1770000000000', '2026-02-02T02:40:00.000Z'],
  ])('has a timestamp of 24 characters for a time %s', (_what, at, timestamp) => {
    expect(JSON.parse(draftEvent(at as number, 'seen')).timestamp).toBe(timestamp);
  });

  it('is a snapshot: later changes of the payload have no effect', () => {
    const payload = { cart: ['book'] };
    const text = eventText('added', payload);
    payload.cart.push('pen');
    expect(JSON.parse(text).payload).toEqual({ cart: ['book'] });
  });

  it.each<[string, unknown, unknown]>([
    ['nothing', undefined, undefined],
    ['null', null, null],
    ['a number', 7, 7],
    ['text', 'a, "b"', 'a, "b"'],
    ['a list', [1, [2]], [1, [2]]],
    ['a date', new Date(AT), '2026-01-31T12:30:15.007Z'],
    ['a function', () => {}, undefined],
    ['NaN in an object', { n: Number.NaN }, { n: null }],
    ['a lone surrogate', '\ud800', '\ud800'],
    ['line separators and NUL', '\u2028\0', '\u2028\0'],
    ['a key named __proto__', JSON.parse('{"__proto__":{"a":1}}'), JSON.parse('{"__proto__":{"a":1}}')],
  ])('accepts %s as payload', (_what, payload, arrives) => {
    expect(JSON.parse(eventText('seen', payload)).payload).toEqual(arrives);
  });

  it('has no payload field without a payload', () => {
    expect(JSON.parse(eventText('seen'))).not.toHaveProperty('payload');
  });

  it('keeps its own fields whatever the payload has', () => {
    const payload = { uuid: 'x', timestamp: 'y', correlationValue: 'z' };
    const event = JSON.parse(eventText('seen', payload));
    expect(event).toMatchObject({ correlationValue: VISITOR_ID, timestamp: '2026-01-31T12:30:15.007Z', payload });
  });
});

describe('the body for the single-event endpoint', () => {
  it('is the event without its timestamp', () => {
    const text = eventText('a,"timestamp":b', { list: [1, 2] });
    const { timestamp: _, ...rest } = JSON.parse(text);
    expect(JSON.parse(singleBody(text))).toEqual(rest);
  });
});

describe('an upsert', () => {
  it('is no event, and has an id', () => {
    const draft = draftUpsert({ plan: 'pro' });
    for (const text of [draft, stamp(draft, { primary_key: 'ann' })]) {
      expect(isEvent(text)).toBe(false);
      expect(idOf(text)).toMatch(UUID_V4);
    }
  });

  it('is sent as the contract requires: primary key and properties, nulls kept, no uuid', () => {
    const properties = { plan: 'pro', old: null, nested: { a: [1] } };
    expect(JSON.parse(upsertBody(upsertText(properties, 'ann "x", é')))).toEqual({
      primary_key: 'ann "x", é',
      properties,
    });
    expect(JSON.parse(upsertBody(upsertText({})))).toEqual({ primary_key: 'ann', properties: {} });
  });

  it.each([undefined, null, 7, 'text', [], [1], true, () => {}, new Date(AT)])(
    'refuses %j, which is no object in JSON',
    (properties) => {
      let thrown: unknown;
      try {
        draftUpsert(properties);
      } catch (error) {
        thrown = error;
      }
      expect(String(thrown)).toContain('setProperties: expected an object');
    },
  );
});

describe('a stored text', () => {
  it('is an item if it is an event or an upsert', () => {
    for (const text of [eventText(), draftEvent(AT, 'seen'), upsertText(), draftUpsert({})]) {
      expect(isItem(text)).toBe(true);
    }
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a number', 7],
    ['no text', ''],
    ['any text', 'text'],
    ['a list', []],
    ['an object', {}],
    ['the event and not its text', JSON.parse(eventText())],
    ['a list with the text in it', [eventText()]],
    ['another JSON', '{"a":1}'],
    ['an event without uuid', JSON.stringify({ ...JSON.parse(eventText()), uuid: undefined })],
    ['a uuid that is too short', eventText().replace('-', '')],
    ['a uuid that is too long', eventText().replace('-', '--')],
    ['a uuid alone', eventText().slice(0, 46)],
    ['a text around it', ` ${eventText()}`],
  ])('is no item if it is %s', (_what, value) => {
    expect(isItem(value)).toBe(false);
  });
});

it.each([
  ['', 0],
  ['abc', 3],
  ['é', 2],
  ['€', 3],
  ['😀', 4],
  ['a😀é', 7],
  ['👩‍👩‍👧', 18],
])('counts %j as %i bytes', (text, bytes) => {
  expect(byteLength(text)).toBe(bytes);
});
