import type { Mutant } from './mutant.ts';

/** Times of a wrong clock. */
export const clockMutants: readonly Mutant[] = [
  {
    name: 'clocks: the relay corrects no time',
    file: 'relay/clocks.ts',
    find: 'const offset = offsetOf?.get(event) ?? 0;',
    replace: 'const offset = 0 * (offsetOf?.get(event) ?? 0);',
  },
  {
    name: 'clocks: the relay forgets the offset of a page load',
    file: 'relay/offsets.ts',
    find: '      newer.set(load, first);\n',
    replace: '',
  },
  {
    name: 'clocks: the relay corrects all page loads by the offset of the request',
    file: 'relay/clocks.ts',
    find: 'known !== undefined ? [known, measured, 0]',
    replace: 'known !== undefined ? [measured, known, 0]',
  },
  {
    name: 'clocks: a page can set its clock back',
    file: 'recorder/clock.ts',
    find: 'shown: Math.max(last.shown, at + setBack) };\n    return last.shown;',
    replace: 'shown: at + setBack };\n    return at;',
  },
  {
    name: 'clocks: a batch that is left with the browser states the clock',
    file: 'courier/handover.ts',
    find: 'batch && defer(batch)',
    replace: 'batch && defer(withFields(batch, { clock: clock() }))',
  },
  {
    name: 'clocks: a handover states no clock',
    file: 'courier/handover.ts',
    find: 'receipts && { clock: clock(), books',
    replace: 'receipts && { books',
  },
];
