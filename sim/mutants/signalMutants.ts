import type { Mutant } from './mutant.ts';

/** Mutants whose counts or signals are wrong, while all events arrive as they should. */
export const signalMutants: readonly Mutant[] = [
  {
    name: 'signals: emits no delivered',
    file: 'api/ledger.ts',
    find: 'if (!texts[0]) return;',
    replace: 'if (!texts[0] || !reason) return;',
  },
  {
    name: 'signals: emits delivered twice',
    file: 'api/ledger.ts',
    find: 'return () => report(texts, reason);',
    replace: 'return () => [texts, reason ? [] : texts].forEach((some) => report(some, reason));',
  },
  {
    name: 'signals: counts delivered events twice, and tracks them twice',
    file: 'api/ledger.ts',
    find: 'else counts.delivered += length;',
    replace: 'else [counts.delivered, counts.tracked] = [counts.delivered + 2 * length, counts.tracked + length];',
  },
  {
    name: 'signals: emits delivered events without the visitor id',
    file: 'api/ledger.ts',
    find: 'parseJson(text) ?? {}',
    replace: "({ ...parseJson<object>(text), correlationValue: '' })",
  },
  {
    name: 'signals: counts and emits rejected events as delivered',
    file: 'api/ledger.ts',
    find: 'close(lost, reason)]',
    replace: "close(lost, reason === 'rejected' ? undefined : reason)]",
  },
  {
    name: 'signals: keeps counting events as queued that another tab has sent',
    file: 'courier/courier.ts',
    find: 'onSettled(removed, rejected, isOthers);',
    replace: 'if (!isOthers) onSettled(removed, rejected, isOthers);',
  },
];
