import { describe, expect, it } from 'vitest';
import { bytes, countdown, duration, instant, plural, reasonIn } from '../../src/inspector/format.ts';

it.each([
  [-5, '0 ms'],
  [0, '0 ms'],
  [999, '999 ms'],
  [1000, '1.0 s'],
  [9999, '10.0 s'],
  [12_345, '12 s'],
  [125_000, '2 min 5 s'],
])('a duration of %i ms is %j', (ms, text) => {
  expect(duration(ms)).toBe(text);
});

it('a countdown shows whole seconds until its end and nothing after it', () => {
  expect([5001, 5000, 4001, 1, 0, -9].map((left) => countdown(1000 + left, 1000))).toEqual([
    '6 s',
    '5 s',
    '5 s',
    '1 s',
    '0 s',
    '0 s',
  ]);
  expect(countdown(61_000, 0)).toBe('1 min 1 s');
});

it('a time has milliseconds', () => {
  expect(instant(Date.parse('2026-11-21T10:20:30.007'))).toBe('10:20:30.007');
});

it('numbers have separators and units', () => {
  expect([bytes(999), bytes(1234)]).toEqual(['999 B', '1.2 kB']);
  expect([plural(1, 'event'), plural(0, 'event'), plural(12_345, 'event')]).toEqual([
    '1 event',
    '0 events',
    '12,345 events',
  ]);
});

describe('the text of a message', () => {
  it.each([
    ['TypeError: Failed to fetch', 'TypeError: Failed to fetch'],
    ['503 {"error":"a 503 on demand"}', 'a 503 on demand'],
    ['502 {"error":"{\\"error\\":\\"a 500 on demand\\"}","status":500}', 'a 500 on demand'],
    ['200 {"rejected":[{"uuid":"a","reason":"too deep"}]}', 'too deep'],
    ['500 <h1>Oops</h1>', '<h1>Oops</h1>'],
    ['400 {"rejected":"nonsense","error":7}', '{"rejected":"nonsense","error":7}'],
    ['400 null', 'null'],
  ])('of %j is %j', (message, said) => {
    expect(reasonIn(message)).toBe(said);
  });
});
