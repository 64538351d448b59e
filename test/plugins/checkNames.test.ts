import { describe, expect, it } from 'vitest';
import { engagement, exclude, forms, sessions } from '../../src/plugins.ts';

describe.each<[string, (options: never) => unknown, object]>([
  ['engagement', engagement, { idleAfter: 1, hiddenFor: 1, scroller: undefined }],
  ['exclude', exclude, { staff: false, localhost: true, automated: true, sample: 1 }],
  ['forms', forms, { hiddenFor: 1 }],
  ['sessions', sessions, { timeout: 1 }],
])('%s', (_name, create, options) => {
  it('refuses an option of an unknown name', () => {
    const expected = `clew: hidenFor: expected one of ${Object.keys(options).join(', ')}`;
    expect(() => create({ ...options, hidenFor: 1 } as never)).toThrow(new TypeError(expected));
  });

  it.each([options, {}, undefined])('takes %o', (given) => {
    expect(() => create(given as never)).not.toThrow();
  });
});
