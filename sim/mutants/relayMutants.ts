import type { Mutant } from './mutant.ts';

/** The relay between pages and the service. */
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
    find: '      const answer = await send(',
    replace: "      await end('confirm');\n      const answer = await send(",
  },
  {
    name: 'the relay answers success before the service has answered',
    file: 'relay.ts',
    find: '      isTaken = isOk(answer);\n',
    replace: '      isTaken = isOk(answer);\n      if (!isTaken) return answerOfNothing(rejected);\n',
  },
];
