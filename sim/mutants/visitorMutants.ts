import type { Mutant } from './mutant.ts';

/** Who the visitor is, in every tab and on every page. */
export const visitorMutants: readonly Mutant[] = [
  {
    name: 'does not journal a changed visitor',
    file: 'visitor/visitor.ts',
    find: 'journal.write(who?.unsaved ? [who.unsaved, ...held] : held, is(AWAY));',
    replace: 'journal.write(held, is(AWAY));',
  },
  {
    name: 'does not post a changed visitor to other tabs',
    file: 'tracker.ts',
    find: '    onChange: channel.post,\n',
    replace: '    onChange() {},\n',
  },
  {
    name: 'ignores a visitor that another tab posts',
    file: 'tracker.ts',
    find: 'visitor.receive(message);',
    replace: '{}',
  },
  {
    name: 'keeps the visitor of a page from the back/forward cache',
    file: 'visitor/visitor.ts',
    find: '      ports.untake(held.flatMap(({ text }) => (text ? idOf(text) : [])));\n      start(isErased(seen));\n',
    replace: '      seen = rawHint();\n      life = { at: OPEN, isSure: true };\n',
  },
  {
    name: 'keeps the visitor id at reset()',
    file: 'visitor/held.ts',
    find: 'visitor = newVisitor(visitor, fresh);',
    replace: 'visitor = newVisitor(visitor, visitor.thread);',
  },
  {
    name: 'does nothing at reset()',
    file: 'tracker.ts',
    find: '      enter({ fresh: uuid() });\n',
    replace: '',
  },
  {
    name: 'keeps the visitor id when another person is identified',
    file: 'visitor/held.ts',
    find: 'known !== undefined && !isSame ? newVisitor(visitor, fresh) : visitor;',
    replace: 'visitor;',
  },
  {
    name: 'sends $identify again at each identify()',
    file: 'visitor/held.ts',
    find: 'return [visitor, false];',
    replace: 'return [visitor, true];',
  },
  {
    name: 'sends no $identify',
    file: 'visitor/held.ts',
    find: 'if (isNew && text)',
    replace: 'if (!isNew && !text)',
  },
  {
    name: 'drops properties of an identified customer',
    file: 'visitor/held.ts',
    find: '      items.push([text, isKnown ?',
    replace: '      if (!isKnown) items.push([text, isKnown ?',
  },
  {
    name: 'starts before consent',
    file: 'tracker.ts',
    find: "else if (settings.consent === 'granted') start();",
    replace: 'else start();',
  },
  {
    name: 'makes a new visitor id at each page load',
    file: 'visitor/decide.ts',
    find: 'const from = visitorIn(stored) ?? ',
    replace: 'const from = (number && visitorIn(stored)) || { ...mine, thread: crypto.randomUUID() } || ',
  },
  {
    name: 'gives an event the time at which the tracker started',
    file: 'recorder/recorder.ts',
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
    find: '    for (const key of [HINT, CHANGED, SETTLED, OLD_ID, VISIT, ...[CALLS, TAB].flatMap(carriedKeys), ...pages])\n      carry(key);\n',
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
    file: 'visitor/visitor.ts',
    find: '      if (is(REFUSED)) return ports.onRefused(eventsIn([call]));\n',
    replace: '',
  },
  {
    name: 'does not write the hint in the task of the change',
    file: 'visitor/visitor.ts',
    find: 'hint(finish(who.visitor, held, service, life.isSure)[0]);',
    replace: '{}',
  },
  {
    name: 'overwrites the record instead of merging into it',
    file: 'visitor/decide.ts',
    find: 'const from = visitorIn(stored) ?? ',
    replace: 'const from = (number ? mine : visitorIn(stored)) ?? ',
  },
  {
    name: 'takes another person for the one whose mark the hint has',
    file: 'visitor/held.ts',
    find: 'known === key || known === markOf(key as string);',
    replace: "known === key || typeof known === 'number';",
  },
  {
    name: 'does not mark a dropped $identify as unsent',
    file: 'visitor/held.ts',
    find: '      if (isOurs) visitor = { ...visitor, keys };\n',
    replace: '',
  },
  {
    name: 'trusts the hint as if the database had said it',
    file: 'visitor/visitor.ts',
    find: '    life = { at: ASKING, isMissing };\n',
    replace: '    life = { at: ASKING, isMissing, isSure: true };\n',
  },
  {
    name: 'ignores a hint that another tab has written',
    file: 'visitor/visitor.ts',
    find: '    follow((isBack && elsewhere?.meet(merged, service)) || merged);\n',
    replace: '    if (isBack) follow(elsewhere?.meet(merged, service) ?? merged);\n',
  },
];
