import type { Inputs } from './inputs.ts';

/** Unusual payloads that are JSON. Postgres stores a replacement for NUL and for halves of surrogate pairs. */
export const oddities: Inputs = {
  'lone surrogates': [() => ({ text: 'a\ud800b\udfffc' }), { text: 'a\ufffdb\ufffdc' }],
  'NUL and other control characters': [
    () => ({ text: 'a\0b\u0001\u001f\u007f' }),
    { text: 'a\ufffdb\u0001\u001f\u007f' },
  ],
  'U+2028 and U+2029': [() => ({ text: '\u2028\u2029</script><!--' }), { text: '\u2028\u2029</script><!--' }],
  'a byte order mark': [() => '\ufefftext', '\ufefftext'],
  'emoji as key and value': [() => ({ '👩‍👩‍👧': '🧶' }), { '👩‍👩‍👧': '🧶' }],
  'keys of the prototype': [
    () => JSON.parse('{"__proto__":{"a":1},"constructor":2,"toString":3,"hasOwnProperty":4}'),
    JSON.parse('{"__proto__":{"a":1},"constructor":2,"toString":3,"hasOwnProperty":4}'),
  ],
  'an object without a prototype': [() => Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
  'keys of the wire': [
    () => ({ uuid: 'x', event: '$identify', payload: {}, batch: [], correlationValue: 'y', timestamp: 5 }),
    { uuid: 'x', event: '$identify', payload: {}, batch: [], correlationValue: 'y', timestamp: 5 },
  ],
  'what looks like JSON': [() => '{"batch":[', '{"batch":['],
  'a list': [() => [1, 'two', null], [1, 'two', null]],
  'a string': [() => 'text', 'text'],
  'an empty string': [() => '', ''],
  'a number': [() => 5.5, 5.5],
  'a large number': [() => Number.MAX_VALUE, Number.MAX_VALUE],
  'a boolean': [() => false, false],
  null: [() => null, null],
};
