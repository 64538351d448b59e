import { MODERN } from '../browser/browser.ts';
import { has, type Plan, type Step } from './plan.ts';

/** Helpers for the plans of known breaks. */

export const hasForeign = ({ steps }: Plan): boolean =>
  steps.some(({ action }) => action.verb === 'network' && action.kind === 'foreign');

export const relayed = (seed: number, steps: readonly Step[], more: Partial<Plan> = {}): Plan => ({
  seed,
  theme: 'plain',
  isDirect: false,
  features: MODERN,
  dataset: { baseUrl: '/clew' },
  hasStub: true,
  steps,
  ...more,
});

export const direct = {
  isDirect: true,
  features: { ...MODERN, hasFetchLater: false },
  dataset: { baseUrl: 'https://service.example', apiKey: 'sim-key', maxBatchEvents: '5', compress: 'false' },
  hasStub: false,
};

/** A page holds few events, so that a walk reaches the bound. */
export const small = { ...relayed(0, []).dataset, maxQueuedEvents: '80' };

/** Pages track more than `maxQueuedEvents`. */
export const tracksMany = ({ dataset, steps }: Plan): boolean =>
  steps.reduce((sum, { action }) => sum + ('count' in action ? action.count : 1), 1) > Number(dataset.maxQueuedEvents);

/** An action tracks so much that a page keeps only a part of it in memory. */
export const exceedsMemory = ({ steps }: Plan): boolean =>
  steps.some(({ action }) => ('size' in action && action.size) || ('count' in action && action.count >= 60));

export const keyed = { baseUrl: direct.dataset.baseUrl, apiKey: direct.dataset.apiKey };

export const now = { tasks: 0 };
export const hasConsent = ({ theme }: Plan) => theme === 'consent';
export const leaves = (plan: Plan) =>
  has(plan, 'navigate', 'close', 'back', 'trackAndLeave', 'identifyAndLeave', 'resetAndLeave', 'setPropertiesAndLeave');
/** The persons whom an action identifies. A listener identifies Ann. */
const personsIn = ({ action }: Step): readonly string[] => {
  if ('person' in action) return [action.person];
  return action.verb === 'listen' && action.reaction === 'identifies' ? ['ann'] : [];
};

export const changesPerson = (plan: Plan) =>
  has(plan, 'reset', 'resetAndLeave') || plan.steps.flatMap(personsIn).length > 0;

const isAtOnce = (step: Step | undefined): boolean => !!step && 'tasks' in step.wait && step.wait.tasks < 2;

/**
 * Whether two pages act at a time: in two tabs, or in one tab whose page leaves. There an action in the same moment loads a page, and so
 * does the departure, as if the visitor had duplicated the tab.
 */
export const hasTwoPages = ({ steps }: Plan): boolean =>
  new Set(steps.flatMap(({ action }) => ('tab' in action ? action.tab : []))).size > 1 ||
  steps.some(({ action }, index) => /Leave|navigate/.test(action.verb) && isAtOnce(steps[index + 1]));

/** Whether the plan identifies two persons, who could then share a visitor id. */
export const hasTwoPersons = ({ steps }: Plan): boolean => new Set(steps.flatMap(personsIn)).size > 1;
