import type { Mutant } from './mutant.ts';

/** What is on the disk, and when. */
export const storageMutants: readonly Mutant[] = [
  {
    name: 'leaves every transaction to commit itself',
    file: 'outbox/store.ts',
    find: '  transaction.commit?.();\n',
    replace: '',
  },
  {
    name: 'writes no rows',
    file: 'outbox/store.ts',
    find: 'for (const [key, value] of entries) value ?',
    replace: 'for (const [key, value] of entries) if (!Array.isArray(key)) value ?',
  },
  {
    name: 'counts a failed transaction as stored',
    file: 'outbox/queue.ts',
    find: 'settle(!!done)',
    replace: 'settle(true)',
  },
  {
    name: 'deletes rows before the answer',
    file: 'courier/courier.ts',
    find: '    if (next) next.isForced = false;\n',
    replace: `    for (const id of ids) settled.add(id);
    await store.transact(changedRows(rows, isLeft));
    for (const id of ids) settled.delete(id);
    if (next) next.isForced = false;
`,
  },
  {
    name: 'does not delete what the service has confirmed',
    file: 'courier/courier.ts',
    find: '    for (const id of done) settled.add(id);\n    pass',
    replace: '    pass',
  },
  {
    name: 'does not journal at pagehide what is not stored',
    file: 'tracker.ts',
    find: 'if (unsaved[0]) carryItems(unsaved);',
    replace: '',
  },
  {
    name: 'does not journal what is tracked before the database is open',
    file: 'tracker.ts',
    find: 'if (early[0]) carryItems(early.splice(0));',
    replace: 'early.length = 0;',
  },
  {
    name: 'does not adopt the journal of an earlier page',
    file: 'tracker.ts',
    find: 'for (const text of adopt(since)) {',
    replace: 'for (const text of [] as ItemText[]) {',
  },
  {
    name: 'never deletes its journal',
    file: 'outbox/journal.ts',
    find: '    if (left.length < all.length) carry(key, left[0] && left);\n',
    replace: '',
  },
  {
    name: 'gives adopted events new ids',
    file: 'outbox/journal.ts',
    find: 'others.flatMap(carriedList).filter(isItem);',
    replace: 'others.flatMap(carriedList).filter(isItem).map((text) => text.replace(/"uuid":"./, \'"uuid":"0\'));',
  },
  {
    name: 'forgets at pagehide which events are settled',
    file: 'tracker.ts',
    find: 'if (settled.size) carry(SETTLED',
    replace: 'if (!settled) carry(SETTLED',
  },
  {
    name: 'numbers its rows without the page load',
    file: 'outbox/queue.ts',
    find: '[service, number, ++count, tab]',
    replace: '[service, 1, ++count, tab]',
  },
];
