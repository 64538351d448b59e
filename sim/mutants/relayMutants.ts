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
  {
    name: 'relay: takes the page of a proxy for an answer of the service',
    file: 'relay/forwarding.ts',
    find: 'if (isOk(answer) && isHtml(answer) && text.trim())',
    replace: 'if (isOk(answer) && isHtml(answer) && !text)',
  },
  {
    name: 'relay: answers 200 if the service does not answer in time',
    file: 'relay/forward.ts',
    find: 'new Refusal(isLate ? 504 : 502, reason, 1)',
    replace: 'new Refusal(isLate ? 200 : 502, reason, 1)',
  },
];
