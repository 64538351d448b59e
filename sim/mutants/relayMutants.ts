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
    find: '      response = answer ? answerOf(answer, rejected, onError) : answerOfNothing(rejected);\n',
    replace:
      '      isWhole = true;\n      response = answer && isServed ? answerOf(answer, rejected, onError) : answerOfNothing(rejected);\n',
  },
];
