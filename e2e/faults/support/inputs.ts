/** JSON cannot represent the payload, so the event is dropped as `unserialisable`. */
export const DROPPED = Symbol('dropped');
/** The event arrives without a payload, which the collector lists as null. */
const NOTHING = null;

/** Payloads by name, each with the payload that arrives. `make` runs in the page and closes over nothing. */
export type Inputs = Record<string, [make: () => unknown, arrives: unknown]>;

/** Payloads that are no plain JSON. */
export const inputs: Inputs = {
  'a cycle': [
    () => {
      const cycle: { self?: unknown } = {};
      cycle.self = cycle;
      return cycle;
    },
    DROPPED,
  ],
  'a BigInt': [() => 1n, DROPPED],
  'a BigInt in a property': [() => ({ a: 1n }), DROPPED],
  'a BigInt as an object': [() => [Object(1n)], DROPPED],
  'a function': [() => () => 1, NOTHING],
  'a function in a property': [() => ({ a: () => 1, b: 2 }), { b: 2 }],
  'a function in a list': [() => [() => 1, 2], [null, 2]],
  'a symbol': [() => Symbol('s'), NOTHING],
  'a symbol in a property': [() => ({ a: Symbol('s'), [Symbol('s')]: 1, b: 2 }), { b: 2 }],
  'a Date': [() => new Date(0), '1970-01-01T00:00:00.000Z'],
  'a Date in a property': [() => ({ at: new Date(0) }), { at: '1970-01-01T00:00:00.000Z' }],
  'an invalid Date': [() => ({ at: new Date(Number.NaN) }), { at: null }],
  undefined: [() => undefined, NOTHING],
  'undefined in a property': [() => ({ a: undefined, b: 2 }), { b: 2 }],
  'undefined in a list': [() => [undefined, 2], [null, 2]],
  'a list with holes': [() => Object.assign([], { 1: 2 }), [null, 2]],
  'NaN and infinities': [() => [Number.NaN, Number.POSITIVE_INFINITY, -1 / 0], [null, null, null]],
  'minus zero': [() => ({ zero: -0 }), { zero: 0 }],
  'a Map': [() => new Map([['a', 1]]), {}],
  'a Set': [() => new Set([1]), {}],
  'a typed array': [() => new Uint8Array([7, 8]), { 0: 7, 1: 8 }],
  'an ArrayBuffer': [() => new ArrayBuffer(8), {}],
  'a DOM node': [() => document.createElement('p'), {}],
  'a DOM node with properties of its own': [() => Object.assign(document.createElement('p'), { own: 1 }), { own: 1 }],
  'a DOM node that a framework has tied into its tree': [
    () => {
      const node = document.createElement('p');
      return Object.assign(node, { fiber: { stateNode: node } });
    },
    DROPPED,
  ],
  'a DOM event': [() => new Event('click'), { isTrusted: false }],
  window: [() => window, DROPPED],
  'the window of another origin': [
    () => {
      const frame = Object.assign(document.createElement('iframe'), { sandbox: 'allow-scripts', srcdoc: '' });
      document.body.append(frame);
      return frame.contentWindow;
    },
    DROPPED,
  ],
  'an Error': [() => new Error('oh'), {}],
  'a Promise': [() => Promise.resolve(1), {}],
  'a regular expression': [() => /a/, {}],
  'an object of a class': [
    () => {
      class Cart {
        items = 2;
        get total() {
          return 3;
        }
      }
      return new Cart();
    },
    { items: 2 },
  ],
  'a boxed string': [() => ({ a: Object('text') }), { a: 'text' }],
  'a proxy of its target, as Vue makes them': [
    () => {
      const reactive = <T extends object>(target: T): T =>
        new Proxy(target, {
          get(from, key, receiver) {
            const value = Reflect.get(from, key, receiver);
            return typeof value === 'object' && value ? reactive(value) : value;
          },
        });
      return reactive({ plan: 'pro', seats: [1, { kind: 'aisle' }] });
    },
    { plan: 'pro', seats: [1, { kind: 'aisle' }] },
  ],
  'a revoked proxy': [
    () => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      return proxy;
    },
    DROPPED,
  ],
  'a getter that throws an Error': [
    () => ({
      get a() {
        throw new Error('no');
      },
    }),
    DROPPED,
  ],
  'a getter that throws a symbol': [
    () => ({
      get a() {
        throw Symbol('no');
      },
    }),
    DROPPED,
  ],
  'a getter that throws an object without a prototype': [
    () => ({
      get a() {
        throw Object.create(null);
      },
    }),
    DROPPED,
  ],
  'a getter that throws undefined': [
    () => ({
      get a() {
        throw undefined;
      },
    }),
    DROPPED,
  ],
  'a toJSON': [() => ({ toJSON: () => ({ a: 1 }) }), { a: 1 }],
  'a toJSON that gives nothing': [() => ({ toJSON: () => undefined }), NOTHING],
  'a toJSON that throws': [
    () => ({
      toJSON() {
        throw new Error('no');
      },
    }),
    DROPPED,
  ],
};
