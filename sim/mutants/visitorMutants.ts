import type { Mutant } from './mutant.ts';

/** Who the visitor is, in every tab and on every page. */
export const visitorMutants: readonly Mutant[] = [
  {
    name: 'does not journal a changed visitor',
    file: 'tracker.ts',
    find: '    carry(CHANGED, visitor);\n',
    replace: '',
  },
  {
    name: 'does not post a changed visitor to other tabs',
    file: 'tracker.ts',
    find: '    channel.post(visitor);\n    know(visitor);\n  };',
    replace: '    know(visitor);\n  };',
  },
  {
    name: 'ignores a visitor that another tab posts',
    file: 'tracker.ts',
    find: 'pages && know(message);',
    replace: '{}',
  },
  {
    name: 'keeps the visitor of a page from the back/forward cache',
    file: 'tracker.ts',
    find: '    if (booting) start();\n  });',
    replace: '  });',
  },
  {
    name: 'keeps the visitor id at reset()',
    file: 'tracker.ts',
    find: 'become(newVisitor(visitor))',
    replace: 'become({ ...newVisitor(visitor), thread: visitor.thread })',
  },
  {
    name: 'does nothing at reset()',
    file: 'tracker.ts',
    find: 'enter((visitor) => become(newVisitor(visitor)));',
    replace: '',
  },
  {
    name: 'keeps the visitor id when another person is identified',
    file: 'tracker.ts',
    find: 'known && !isKnown ? newVisitor(visitor) : visitor;',
    replace: 'visitor;',
  },
  {
    name: 'sends $identify again at each identify()',
    file: 'tracker.ts',
    find: 'if (known === primaryKey && (!signature || proof === signature)) return;',
    replace: 'if (known === primaryKey) return become(visitor, signed(text, visitor.thread, signature));',
  },
  {
    name: 'sends no $identify',
    file: 'tracker.ts',
    find: 'isKnown ? undefined : signed(text, person.thread, signature)',
    replace: 'undefined',
  },
  {
    name: 'drops properties of an identified customer',
    file: 'tracker.ts',
    find: 'add(stamp(text, { primary_key, signature }));',
    replace: '{}',
  },
  {
    name: 'starts before consent',
    file: 'tracker.ts',
    find: "else if (settings.consent === 'granted') start();",
    replace: 'else start();',
  },
  {
    name: 'makes a new visitor id at each page load',
    file: 'tracker.ts',
    find: 'const known = isThread(stored?.thread) ? stored : candidate;',
    replace: 'const known = stored ? { ...stored, thread: uuid() } : candidate;',
  },
  {
    name: 'gives an event the time at which the tracker started',
    file: 'tracker.ts',
    find: 'const at = started + since;',
    replace: 'const at = started;',
  },
  {
    name: 'ignores Global Privacy Control',
    file: 'tracker.ts',
    find: 'if (settings.respectGpc && (',
    replace: 'if (!settings.respectGpc && (',
  },
  {
    name: 'keeps the database after a refusal',
    file: 'tracker.ts',
    find: '    store.clear(service, [VISITOR, linkNameOf(service)]);\n',
    replace: '',
  },
  {
    name: 'keeps localStorage after a refusal',
    file: 'tracker.ts',
    find: '    for (const key of [CHANGED, SETTLED, THREAD, VISIT, ...[CALLS, TAB, itemsPrefix].flatMap(carriedKeys)]) carry(key);\n',
    replace: '',
  },
  {
    name: 'does not pass a refusal to other tabs',
    file: 'tracker.ts',
    find: '      channel.post(isGranted);',
    replace: '      if (isGranted) channel.post(isGranted);',
  },
  {
    name: 'holds events after a refusal until the next consent',
    file: 'tracker.ts',
    find: "    open(null);\n    trace(() => ({ step: 'visitor', thread: undefined }));",
    replace: "    open(undefined);\n    trace(() => ({ step: 'visitor', thread: undefined }));",
  },
];
