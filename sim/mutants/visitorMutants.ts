import type { Mutant } from './mutant.ts';

/** Who the visitor is, in every tab and on every page. */
export const visitorMutants: readonly Mutant[] = [
  {
    name: 'does not journal a changed visitor',
    file: 'visitor/visitor.ts',
    find: 'journal.write({ visitor: visitor === stored ? undefined : visitor, texts,',
    replace: 'journal.write({ texts,',
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
    find: 'if (is(AWAY)) start(isErased(who?.seen));',
    replace: 'if (is(AWAY)) life = { at: OPEN, isSure: true };',
  },
  {
    name: 'keeps the visitor id at reset()',
    file: 'visitor/calls.ts',
    find: ': [newVisitor(visitor, fresh, call.at)];',
    replace: ': [newVisitor(visitor, visitor.thread, call.at)];',
  },
  {
    name: 'does nothing at reset()',
    file: 'api/methods.ts',
    find: '      enter({ fresh: uuid() });\n',
    replace: '',
  },
  {
    name: 'keeps the visitor id when another person is identified',
    file: 'visitor/calls.ts',
    find: 'known !== undefined && !isSame ? newVisitor(visitor, fresh, at) : visitor;',
    replace: 'visitor;',
  },
  {
    name: 'sends $identify again at each identify()',
    file: 'visitor/calls.ts',
    find: '(!signature || proof === signature)) return [visitor];',
    replace:
      '(!signature || proof === signature)) return [visitor, [text as ItemText, { correlationValue: visitor.thread, signature }]];',
  },
  {
    name: 'sends no $identify',
    file: 'visitor/calls.ts',
    find: 'return isNew ? [after,',
    replace: 'return !isNew ? [after,',
  },
  {
    name: 'drops properties of an identified customer',
    file: 'visitor/calls.ts',
    find: 'isKnown ? { primary_key: known',
    replace: '!isKnown ? { primary_key: known',
  },
  {
    name: 'starts before consent',
    file: 'page/visit.ts',
    find: "else if (settings.consent === 'granted') whenSeen(start);",
    replace: 'else whenSeen(start);',
  },
  {
    name: 'makes a new visitor id at each page load',
    file: 'visitor/visitor.ts',
    find: 'known ?? newVisitor());',
    replace: 'newVisitor({ ...known, turn: (known?.turn ?? -1) } as Visitor));',
  },
  {
    name: 'gives an event the time at which the tracker started',
    file: 'recorder/recorder.ts',
    find: 'const at = started + since;',
    replace: 'const at = started;',
  },
  {
    name: 'ignores Global Privacy Control',
    file: 'page/visit.ts',
    find: 'if (settings.respectGpc && (',
    replace: 'if (!settings.respectGpc && (',
  },
  {
    name: 'keeps the database after a refusal',
    file: 'page/visit.ts',
    find: '    store.clear(settings.storageName, [VISITOR, linkNameOf(settings.storageName)]);\n',
    replace: '',
  },
  {
    name: 'keeps localStorage after a refusal',
    file: 'page/visit.ts',
    find: '    carryNothing(settings.storageName);\n',
    replace: '',
  },
  {
    name: 'does not pass a refusal to other tabs',
    file: 'page/visit.ts',
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
    find: '    if (isNew) (life.isSure ? know : hint)({ ...who, visitor, stored });\n',
    replace: '    if (isNew) who = { ...who, visitor, stored };\n',
  },
  {
    name: 'overwrites the record instead of merging into it',
    file: 'visitor/visitor.ts',
    find: '...merge(mine, visitorIn(stored) ?? mine), taken',
    replace: '...mine, taken',
  },
  {
    name: 'takes another person for the one whose mark the hint has',
    file: 'visitor/calls.ts',
    find: 'known === key || known === markOf(key as string);',
    replace: "known === key || typeof known === 'number';",
  },
  {
    name: 'does not mark a dropped $identify as unsent',
    file: 'visitor/calls.ts',
    find: 'dropped === visitor.thread && known === key ? { ...visitor, keys } : visitor',
    replace: 'visitor',
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
  {
    name: 'finishes calls with the visitor of the hint although the database knows another one',
    file: 'visitor/visitor.ts',
    find: 'const from = isStale ? base : ',
    replace: 'const from = ',
  },
  {
    name: 'does not give a change the version of its time',
    file: 'visitor/record.ts',
    find: 'Math.floor((at - 1.7e12) / 100)',
    replace: 'Math.min(0, at)',
  },
  {
    name: 'writes the record unread over that of another service',
    file: 'visitor/visitor.ts',
    find: ' && visitor !== stored && isAlone)',
    replace: ' && visitor !== stored)',
  },
  {
    name: 'does not see a hint that another tab has written meanwhile',
    file: 'visitor/visitor.ts',
    find: 'who = isSeen ? { ...known, seen: rawHint() } : known;',
    replace: 'who = { ...known, seen: rawHint() };',
  },
];
