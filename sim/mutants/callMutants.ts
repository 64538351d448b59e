import type { Mutant } from './mutant.ts';

/** Mutants that break the promise of a single call. */
export const callMutants: readonly Mutant[] = [
  {
    name: 'resolves trackNow before the event is sent',
    file: 'api/methods.ts',
    find: '      return flush();\n',
    replace: '      flush();\n      return Promise.resolve();\n',
  },
  {
    name: 'leaves trackNow pending',
    file: 'api/methods.ts',
    find: '      return flush();\n',
    replace: '      flush();\n      return new Promise<void>(() => {});\n',
  },
  {
    name: 'ignores what page() is given',
    file: 'api/methods.ts',
    find: "...attempt(() => ({ ...fieldsOf(overrides, 'page') })) };",
    replace: '};',
  },
  {
    name: 'resolves correlationValue() before the database has answered',
    file: 'visitor/turn.ts',
    find: 'else if (who && !isUnknown && (life.isStopped || (life.isSure && !held.calls[0]))) waiters',
    replace: 'else if (who) waiters',
  },
  {
    name: 'leaves correlationValue() pending once the visitor is known',
    file: 'visitor/visitor.ts',
    find: '      const visitorId = waiters.wait();\n      give();\n',
    replace: '      const visitorId = waiters.wait();\n',
  },
  {
    name: 'passes no signature on',
    file: 'api/methods.ts',
    find: 'signature: isDirect ? undefined : signature }',
    replace: 'signature: undefined }',
  },
  {
    name: 'does not report what the relay has refused of a batch',
    file: 'courier/judge.ts',
    find: 'rejected.map((one) => one?.uuid)',
    replace: '[]',
  },
  {
    name: 'takes an identity with a wrong signature',
    file: 'relay/identity.ts',
    find: "(await isOfSecret?.(primaryKey, signature)) ? {} : 'plain'",
    replace: '(await isOfSecret?.(primaryKey, signature)) ? {} : {}',
  },
  {
    name: 'drops what has an expired token',
    file: 'plugins/renewTokens.ts',
    find: '      if (!kept[0]) return [items, answer] as const;\n',
    replace: '      if (!kept[1e3]) return [items, answer] as const;\n',
  },
  {
    name: 'sends an expired token again in place of the new one',
    file: 'plugins/renewTokens.ts',
    find: 'return signature === item?.signature ? text : ',
    replace: 'return signature ? text : ',
  },
  {
    name: 'calls an expired token a wrong one',
    file: 'relay/identity.ts',
    find: "return exp > now ? { properties } : 'expired';",
    replace: "return exp > now ? { properties } : 'primary_key';",
  },
];
