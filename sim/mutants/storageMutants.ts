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
    find: 'for (const [key, value] of all) value ?',
    replace: 'for (const [key, value] of all) if (!Array.isArray(key)) value ?',
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
    find: '    queue.carry();\n',
    replace: '',
  },
  {
    name: 'does not journal what is tracked before the database is open',
    file: 'visitor/visitor.ts',
    find: 'journal.write(who?.unsaved ? [who.unsaved, ...held] : held, is(AWAY));',
    replace: 'journal.write(who?.unsaved ? [who.unsaved] : [], is(AWAY));',
  },
  {
    name: 'does not adopt the journal of an earlier page',
    file: 'visitor/visitor.ts',
    find: '      others = journal.others(since).filter(({ isLeft }) => isLeft || !isShut);\n',
    replace: '',
  },
  {
    name: 'never deletes its journal',
    file: 'outbox/journal.ts',
    find: '      for (const id of ids) items.delete(id);\n',
    replace: '',
  },
  {
    name: 'gives adopted events new ids',
    file: 'outbox/journal.ts',
    find: 'texts: [texts ?? []].flat().filter(isItem),',
    replace: 'texts: [texts ?? []].flat().filter(isItem).map((text) => text.replace(/"uuid":"./, \'"uuid":"0\')),',
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
    find: '[service, pages(), ++count, page, size.of(own[1])]',
    replace: '[service, 1, ++count, page, size.of(own[1])]',
  },
  {
    name: 'does not take in the calls that a page has left in its journal',
    file: 'visitor/decide.ts',
    find: 'inOrder(own, others, done)',
    replace: 'inOrder(own, [], done)',
  },
  {
    name: 'does not take in the finished events that a page has left in its journal',
    file: 'visitor/visitor.ts',
    find: '      ports.adopt(adopted);\n',
    replace: '',
  },
  {
    name: 'takes in the calls of a journal twice',
    file: 'visitor/decide.ts',
    find: 'other.held.filter(({ index }) => index > (taken.get(other.page) ?? 0))',
    replace: 'other.held',
  },
  {
    name: 'never deletes the journal of a page that has gone',
    file: 'visitor/visitor.ts',
    find: '        for (const other of others) other.remove();\n',
    replace: '',
  },
  {
    name: 'writes what waits for the database only when the page leaves',
    file: 'visitor/visitor.ts',
    find: '      if (is(ASKING)) write();\n',
    replace: '',
  },
  {
    name: 'forgets at page load which events are settled',
    file: 'visitor/visitor.ts',
    find: 'const settled = ports.settled(!mine.isSure);',
    replace: 'const settled = new Set();',
  },
];
