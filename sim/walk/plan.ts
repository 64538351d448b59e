import type { Features } from '../browser/browser.ts';
import type { Proof } from '../server/relay.ts';
import type { NpmAction } from './npm/actions.ts';
import type { CallsAction } from './themes/callsVerbs.ts';
import type { ForeignAction } from './themes/foreignVerbs.ts';
import type { PagesAction } from './themes/pagesVerbs.ts';
import type { StorageAction } from './themes/storageVerbs.ts';
import type { TokensAction } from './themes/tokensVerbs.ts';
import type { UpstreamAction } from './themes/upstreamVerbs.ts';

/** The action of a step. `tab` is taken modulo the number of tabs. */
export type Action =
  | { readonly verb: 'open' | 'close' | 'navigate' | 'back' | 'crash' | 'hide' | 'show'; readonly tab: number }
  | {
      readonly verb: 'track';
      readonly tab: number;
      readonly count: number;
      readonly name: 'walk' | 'poison';
      /** Characters of each payload, about. */
      readonly size?: number;
    }
  | { readonly verb: 'trackAndLeave'; readonly tab: number; readonly count: number; readonly size?: number }
  | {
      readonly verb: 'identify';
      readonly tab: number;
      readonly person: string;
      /** Whether the signature is another person's. */
      readonly isForged?: boolean;
    }
  | { readonly verb: 'reset' | 'flush' | 'setProperties'; readonly tab: number }
  | { readonly verb: 'identifyAndLeave'; readonly tab: number; readonly person: string }
  | {
      readonly verb: 'resetAndLeave' | 'refuseAndGrant' | 'refuseAndLeave' | 'setPropertiesAndLeave';
      readonly tab: number;
    }
  | { readonly verb: 'consent'; readonly tab: number; readonly isGranted: boolean }
  /** The visitor consents while the page is leaving, after `pagehide`. */
  | { readonly verb: 'leaveAndGrant'; readonly tab: number }
  | { readonly verb: 'kill' | 'offline' | 'online' | 'restartRelay' | 'clearDatabase' }
  | { readonly verb: 'network'; readonly kind: 'fair' | 'slow' | 'lossy' | 'foreign' | 'hangs' }
  | {
      readonly verb: 'service';
      readonly status: number | undefined;
      readonly takes: boolean;
      readonly retryAfter?: string;
      /** `Retry-After` has the date so many seconds after the action. */
      readonly retryDate?: number;
    }
  | { readonly verb: 'busyDatabase'; readonly ms: number }
  | { readonly verb: 'slowDisk'; readonly isSlow: boolean }
  | NpmAction
  | StorageAction
  | PagesAction
  | CallsAction
  | TokensAction
  | UpstreamAction
  | ForeignAction;

/** Waits for time, or for a number of tasks, and then acts: a step can fall between any two tasks. */
export interface Step {
  readonly wait: { readonly ms: number } | { readonly tasks: number };
  readonly action: Action;
}

/** The kind of actions and faults that a walk has besides the common ones. Each theme has its file in `themes/`. */
export type ThemeName =
  | 'plain'
  | 'consent'
  | 'npm'
  | 'storage'
  | 'pages'
  | 'crashes'
  | 'calls'
  | 'tokens'
  | 'dormant'
  | 'upstream'
  | 'statuses'
  | 'foreign';

export interface Plan {
  readonly seed: number;
  readonly theme: ThemeName;
  readonly isDirect: boolean;
  readonly features: Features;
  /** Options of the script tag. */
  readonly dataset: Readonly<Record<string, string>>;
  readonly hasStub: boolean;
  /** Whether the relay requires a signature of each identity. */
  readonly isSigned?: boolean;
  /** Whether signatures are tokens, which expire. The page renews them. */
  readonly hasTokens?: boolean;
  /** Pages import the npm build, and make these trackers in place of the script tag. */
  readonly npm?: { readonly hasOther: boolean; readonly hasTransport: boolean };
  readonly steps: readonly Step[];
}

/** The proof that the walk's relay requires of an identity. */
export const proofOf = ({ isSigned, hasTokens }: Plan): Proof =>
  isSigned ? (hasTokens ? 'token' : 'signature') : 'none';

/** Whether a request can fail anywhere in the plan. */
export const hasFaults = ({ steps }: Plan): boolean =>
  steps.some(({ action: { verb } }) =>
    ['network', 'service', 'offline', 'transport', 'upstream', 'foreign'].includes(verb),
  );

/** Whether an action has this verb, or tracks an event of this name, anywhere in the plan. */
export const has = ({ steps }: Plan, ...verbs: readonly (Action['verb'] | 'poison')[]): boolean =>
  steps.some(({ action }) => verbs.includes(action.verb) || ('name' in action && verbs.includes(action.name as never)));

/** Whether the service refuses a request because of its content, anywhere in the plan. */
export const hasRefusals = ({ steps }: Plan): boolean =>
  steps.some(({ action }) => action.verb === 'service' && [500, 413].includes(action.status ?? 0));

/** Whether the app's transport may reject after it has read an answer. */
export const hidesAnswers = ({ steps }: Plan): boolean =>
  steps.some(({ action }) => action.verb === 'transport' && action.kind === 'rejectsLate');
