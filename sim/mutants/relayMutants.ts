import type { Mutant } from './mutant.ts';

/** Mutants of the relay. */
export const relayMutants: readonly Mutant[] = [
  {
    name: 'the relay forgets which events the service has',
    file: 'relay/seen.ts',
    find: '        taken.set(uuid, until);\n',
    replace: '',
  },
  {
    name: 'the relay remembers events before the service has answered',
    file: 'relay.ts',
    find: '      const body = bodyFor(',
    replace: '      await end(events);\n      const body = bodyFor(',
  },
  {
    name: 'the relay answers success before the service has answered',
    file: 'relay.ts',
    find: '      if (isOk(answer)) taken = events;\n',
    replace:
      '      if (!isOk(answer)) return { response: answerOfNothing(rejected), isWhole: true };\n      taken = events;\n',
  },
];
