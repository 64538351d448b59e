import type { KeyRing } from '../../server/hmac.ts';
import type { VerbsOf } from '../stage.ts';

/** Actions of the theme `tokens`. */
export type TokensAction = {
  /** A key is added, old keys are removed, or the old keys have leaked and are revoked. */
  readonly verb: 'changeKeys';
  readonly kind: 'adds' | 'removes' | 'revokes';
};

const CHANGES: Readonly<Record<TokensAction['kind'], (keys: KeyRing) => KeyRing>> = {
  adds: (keys) => ({ ...keys, latest: keys.latest + 1 }),
  removes: (keys) => ({ ...keys, first: keys.latest }),
  revokes: ({ latest, first }) => ({
    latest: latest + 1,
    first,
    revoked: Array.from({ length: latest + 1 }, (_, n) => n),
  }),
};

export const tokensVerbs: VerbsOf<TokensAction> = {
  changeKeys({ relay, history }, { kind }) {
    // The relay takes its keys as it starts.
    history.network(false);
    relay?.setKeys(CHANGES[kind]);
  },
};
