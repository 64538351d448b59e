import type { Mutant } from './mutant.ts';

/** Mutants that take the answer of another server for one of the relay or the service. */
export const answerMutants: readonly Mutant[] = [
  {
    name: 'answers: trusts a 2xx without the header of the relay unless it is HTML',
    file: 'courier/transport.ts',
    find: '    : !headers.get(RELAY_HEADER);',
    replace: "    : /^text\\/html/i.test(headers.get('Content-Type') ?? '');",
  },
  {
    name: 'answers: without a relay, trusts HTML with a charset',
    file: 'courier/transport.ts',
    find: "/^text\\/html/i.test(headers.get('Content-Type') ?? '')",
    replace: "/^text\\/html$/i.test(headers.get('Content-Type') ?? '')",
  },
  {
    name: 'answers: takes a redirect or a 304 for a success',
    file: 'courier/transport.ts',
    find: "if (status < 300) return 'delivered';",
    replace: "if (status < 400) return 'delivered';",
  },
];
