import type { Mutant } from '../mutants/mutant.ts';
import { relayMutants } from '../mutants/relayMutants.ts';

const named = (name: string): Mutant => {
  const found = relayMutants.find((mutant) => mutant.name === name);
  if (!found) throw Error(`no mutant is named: ${name}`);
  return found;
};

/** Mutants of the relay, each with the invariant that it breaks in a scenario of two relays. */
export const sharedMutants: readonly (readonly [mutant: Mutant, invariant: string])[] = [
  [named('the relay answers success before the service has answered'), 'a confirmed event is stored'],
  [named('the relay remembers events before the service has answered'), 'a confirmed event is stored'],
  [
    {
      name: 'the relay does not write that the service has taken the events',
      file: 'relay/seen.ts',
      find: "command(['SET', key, TAKEN,",
      replace: "command(['SET', key + '!', TAKEN,",
    },
    'an event is stored once',
  ],
  [
    {
      name: 'the relay takes an event that another request has reserved',
      file: 'relay/seen.ts',
      find: "by === owner ? 'new' : 'pending'",
      replace: "'new'",
    },
    'an event is stored once',
  ],
  [
    {
      name: 'the relay releases events before the service has answered',
      file: 'relay.ts',
      find: '      const body = bodyFor(',
      replace: '      await end([]);\n      const body = bodyFor(',
    },
    'an event is stored once',
  ],
  [
    {
      name: 'the relay takes a reservation that a repeated SET has made for one of another request',
      file: 'relay/seen.ts',
      find: "by === owner ? 'new' : 'pending'",
      replace: "'pending'",
    },
    'a relay gives up its reservations',
  ],
  [
    {
      name: 'the relay keeps reservations after a failure',
      file: 'relay/reserve.ts',
      find: "              end(\n                'release',\n                mine.filter((uuid) => !confirmed.has(uuid)),\n              ),\n",
      replace: '',
    },
    'a relay gives up its reservations',
  ],
  [
    {
      name: 'the relay trusts an account that a request without a statement has opened',
      file: 'relay/load.ts',
      find: 'fact.begunAt === undefined ? undefined :',
      replace: 'fact.begunAt === undefined ? 0 :',
    },
    'the books miss what is lost',
  ],
];
