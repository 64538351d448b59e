import type { Mutant } from './mutant.ts';

/** Mutants that write wrong data into the database or localStorage, or write it at a wrong time. */
export const storageMutants: readonly Mutant[] = [
  {
    name: 'leaves every transaction to commit itself',
    file: 'outbox/transaction.ts',
    find: '  transaction.commit?.();\n',
    replace: '',
  },
  {
    name: 'writes no rows',
    file: 'outbox/transaction.ts',
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
    file: 'courier/send.ts',
    find: '    onAttempt();\n',
    replace: `    for (const id of ids) known.settled.add(id);
    await store.transact(changedRows(rows, isLeft));
    for (const id of ids) known.settled.delete(id);
    onAttempt();
`,
  },
  {
    name: 'does not delete what the service has confirmed',
    file: 'courier/send.ts',
    find: '    for (const id of settled) known.settled.add(id);\n',
    replace: '',
  },
  {
    name: 'does not journal at pagehide what is not stored',
    file: 'page/visit.ts',
    find: '    queue.keep(true);\n',
    replace: '',
  },
  {
    name: 'does not journal what is tracked before the database is open',
    file: 'visitor/knowledge.ts',
    find: 'visitor: changed, texts, isLeft',
    replace: 'visitor: changed, isLeft',
  },
  {
    name: 'does not adopt the journal of an earlier page',
    file: 'visitor/ask.ts',
    find: 'journal.others(since).filter(({ isLeft }) => isLeft || !isShut);',
    replace: '[] as OtherJournal[];',
  },
  {
    name: 'deletes the journal of an open page at once',
    file: 'outbox/journal.ts',
    find: 'else setTimeout(other.remove, LAG);',
    replace: 'else other.remove();',
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
    file: 'outbox/farewell.ts',
    find: '      add(done, [...ids], MOST_SETTLED);\n',
    replace: '',
  },
  {
    name: 'forgets which events are settled that a page that has gone has journaled',
    file: 'outbox/farewell.ts',
    find: 'const pages = journal.pages();',
    replace: 'const pages: string[] = [];',
  },
  {
    name: 'numbers its rows without the page load',
    file: 'outbox/queue.ts',
    find: '[service, pages(), own[3], page, size.of(own[1])]',
    replace: '[service, 1, own[3], page, size.of(own[1])]',
  },
  {
    name: 'does not take in the finished events that a page has left in its journal',
    file: 'visitor/adopt.ts',
    find: "items.filter((one) => typeof one === 'string')",
    replace: '[]',
  },
  {
    name: 'never deletes the journal of a page that has gone',
    file: 'visitor/changes.ts',
    find: '    journal.replace(others, !!merged);\n',
    replace: '',
  },
  {
    name: 'deletes the journal of a page that has gone though there is no room for a copy',
    file: 'outbox/journal.ts',
    find: 'isStored || last.isWhole;',
    replace: 'isStored || !!last;',
  },
  {
    name: 'writes what waits for the database only when the page leaves',
    file: 'visitor/knowledge.ts',
    find: '      if (isWaiting && !isInDoubt(desk) && calls.length < MOST_JOURNALED) write();\n',
    replace: '',
  },
  {
    name: 'forgets at page load which events are settled',
    file: 'visitor/ask.ts',
    find: 'const settled = ports.settled(!mine.isSure);',
    replace: 'const settled = new Set();',
  },
  {
    name: 'takes in a journal whose deletion was lost once more',
    file: 'visitor/adopt.ts',
    find: '    .filter(({ name }) => !taken.includes(name))\n',
    replace: '',
  },
  {
    name: 'takes in the copies of a journal that another page has taken in',
    file: 'visitor/ask.ts',
    find: '    journal.adopt(others);\n',
    replace: '',
  },
  {
    name: 'takes in the journal of an open page',
    file: 'outbox/journal.ts',
    find: '.filter((other) => !isOpen(other))',
    replace: '.filter((other) => other || isOpen(other))',
  },
  {
    name: 'does not remember which journals it has taken in',
    file: 'visitor/stored.ts',
    find: '[...takenIn(stored), ...others.flatMap(({ name }) => name || [])].slice(-MOST_TAKEN);',
    replace: 'takenIn(stored);',
  },
  {
    name: 'forgets at a change of the visitor which journals it has taken in',
    file: 'visitor/stored.ts',
    find: '  taken: takenIn(stored),\n',
    replace: '',
  },
  {
    name: 'forgets which journals it has taken in as it writes the record unread',
    file: 'visitor/stored.ts',
    find: '{ ...visitor, taken, epochs, pages:',
    replace: '{ ...visitor, epochs, pages:',
  },
  {
    name: 'takes in a stored event once more from the journal',
    file: 'visitor/ask.ts',
    find: ' || !!present?.has(idOf(text));',
    replace: ';',
  },
  {
    name: 'does not complete an upsert that a page has left',
    file: 'visitor/adopt.ts',
    find: 'return known ? stamp(...known) : call;',
    replace: "return { ...call, owner: '' };",
  },
  {
    name: 'does not report properties for which there is no room',
    file: 'page/visit.ts',
    find: "ports.fail('setProperties: full');",
    replace: ';',
  },
  {
    name: 'keeps in memory all that it has stored',
    file: 'outbox/queue.ts',
    find: 'if (left < KEEPALIVE_QUOTA) break;',
    replace: 'if (texts) break;',
  },
  {
    name: 'ignores maxQueuedEvents',
    file: 'outbox/queue.ts',
    find: "return size.isFull(waiting) ? 'full' : undefined;",
    replace: 'return undefined;',
  },
  {
    name: 'receives nothing from other tabs after the back/forward cache',
    file: 'page/visit.ts',
    find: '      channel.reopen();\n',
    replace: '',
  },
  {
    name: 'stores an event a while after its call',
    file: 'outbox/queue.ts',
    find: 'if (fresh.push(text) === 1) queueMicrotask(persist);',
    replace: 'if (fresh.push(text) === 1) setTimeout(persist, 300);',
  },
];
