import type { Mutant } from './mutant.ts';

/** Mutants of the visitor id, consent, and the visitor that all tabs share. */
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
    find: 'if (is(AWAY)) start(isMissing() || isErased(who, who?.epoch));',
    replace: 'if (is(AWAY)) life = { at: OPEN, isSure: true };',
  },
  {
    name: 'goes on after a refusal that came just before the page left for the back/forward cache',
    file: 'visitor/visitor.ts',
    find: 'start(isMissing() || isErased(who, who?.epoch));',
    replace: 'start(isMissing());',
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
    find: '      enter({ fresh: replayedId() ?? uuid(), at: clock() });\n',
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
    name: 'forgets properties before identify',
    file: 'visitor/visitor.ts',
    find: ' early.keep(item);',
    replace: ' {}',
  },
  {
    name: 'gives properties before identify to the customer of another visitor id',
    file: 'visitor/calls.ts',
    find: 'owner === visitor.thread && !isUnsent;',
    replace: '!isUnsent;',
  },
  {
    name: 'sends properties that are set after a dropped $identify',
    file: 'visitor/calls.ts',
    find: '  return [visitor, upsertOf(visitor, text as ItemText, owner, service)];\n',
    replace:
      "  const isQueued = !owner && typeof known === 'string';\n" +
      '  if (isQueued) return [visitor, [text as ItemText, { primary_key: known, signature: proof ?? undefined }]];\n' +
      '  return [visitor, upsertOf(visitor, text as ItemText, owner, service)];\n',
  },
  {
    name: 'keeps only the latest properties before identify',
    file: 'visitor/early.ts',
    find: '...before.map((one) => one.properties), ',
    replace: '',
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
    find: '(known ?? newVisitor(undefined, life.firstId));',
    replace: 'newVisitor({ ...known, turn: (known?.turn ?? -1) } as Visitor);',
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
    find: '    eraseEntries(settings.storageName, store.local);\n',
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
    find: '      if (is(REFUSED) || isDoubtful()) return ports.onRefused(eventsIn([call]));\n',
    replace: '',
  },
  {
    name: 'does not write the hint in the task of the change',
    file: 'visitor/visitor.ts',
    find: '    if (isNew) (life.isSure ? know : hint)(changed);\n',
    replace: '    if (isNew) who = changed;\n',
  },
  {
    name: 'overwrites the record instead of merging into it',
    file: 'visitor/stored.ts',
    find: '    ...merge(known, visitorIn(stored) ?? known),\n',
    replace: '    ...mine,\n',
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
    find: '    const known = seen === who.seen ? undefined : readHint();\n',
    replace: '    const known = undefined as Visitor | undefined;\n',
  },
  {
    name: 'finishes calls with the visitor of the hint although the database knows another one',
    file: 'visitor/decide.ts',
    find: '(isStale ? base : begin)',
    replace: 'begin',
  },
  {
    name: 'does not give a change the version of its time',
    file: 'visitor/record.ts',
    find: 'Math.floor((at - 1.7e12) / 100)',
    replace: 'Math.min(0, at)',
  },
  {
    name: 'writes the record unread over that of another service',
    file: 'visitor/stored.ts',
    find: '  return isWhole ? {',
    replace: '  return isWhole || keys ? {',
  },
  {
    name: 'ignores the visitor that a page has left in its journal',
    file: 'visitor/adopt.ts',
    find: '    if (visitor) base = !base || base.turn >= visitor.turn ? merge(base, visitor) : merge(visitor, base);\n',
    replace: '',
  },
  {
    name: 'does not save a change of the visitor',
    file: 'visitor/visitor.ts',
    find: '    if (is(OPEN)) save();\n',
    replace: '',
  },
  {
    name: 'drops properties if a page that leaves does not know the customer',
    file: 'visitor/calls.ts',
    find: '    if (item && isEarly(item) && !isSure) break;\n',
    replace: '    if (item && isEarly(item) && !isSure) {\n      count++;\n      continue;\n    }\n',
  },
  {
    name: 'leaves the calls of a page that left before the bundle was loaded to the next page that loads',
    file: 'snippet.ts',
    find: "  addEventListener('pageshow', ({ persisted }) => persisted && replay(), true);\n",
    replace: '',
  },
  {
    name: 'sends what it has as the visitor refuses',
    file: 'page/visit.ts',
    find: '    recorder.drain();\n    visitor.refuse(!isRenewed);\n',
    replace: '    recorder.drain();\n    courier.leave();\n    courier.restore();\n    visitor.refuse(!isRenewed);\n',
  },
  {
    name: 'does not see in the database that the visitor has refused and consented since',
    file: 'visitor/visitor.ts',
    find: 'const isRenewed = !!epoch && !!who.epoch && epoch !== who.epoch;',
    replace: 'const isRenewed = false;',
  },
  {
    name: 'keeps the calls that wait as the visitor refuses',
    file: 'visitor/visitor.ts',
    find: '      held = heldOf([], weigh);\n      if (isAnswer)',
    replace: '      if (isAnswer)',
  },
  {
    name: 'keeps the visitor in memory after a refusal',
    file: 'visitor/visitor.ts',
    find: '      who = undefined;\n      write();\n      ports.onRefused(texts);',
    replace: '      write();\n      ports.onRefused(texts);',
  },
];
