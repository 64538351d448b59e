import { MODERN } from '../../browser/browser.ts';
import { INVARIANTS } from '../checks.ts';
import type { Defect } from '../defect.ts';
import { leaves, now, relayed } from '../defectPlans.ts';
import { has, hasFaults, type Plan, type Step } from '../plan.ts';

/** A page with two trackers, both of which have asked the database. */
const twoTrackers = (steps: readonly Step[]): Plan =>
  relayed(1, [{ wait: now, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } }, ...steps], {
    theme: 'npm',
    hasStub: false,
    npm: { hasOther: true, hasTransport: false },
  });

const identifies = (person: string): Step => ({ wait: { ms: 6000 }, action: { verb: 'identify', tab: 0, person } });
const reloads: Step = { wait: { ms: 6000 }, action: { verb: 'navigate', tab: 0 } };

const hasTwoServices = (plan: Plan): boolean => !!plan.npm?.hasOther;
const isIdentified = (plan: Plan): boolean =>
  has(plan, 'identify', 'identifyAndLeave') ||
  plan.steps.some(({ action }) => action.verb === 'listen' && action.reaction === 'identifies');
const stops = (plan: Plan): boolean =>
  has(plan, 'stop') || plan.steps.some(({ action }) => action.verb === 'listen' && action.reaction === 'stops');

/** Known defects that only an app shows. In its page two trackers overwrite each other's part of the visitor's record. */
export const npmDefects: readonly Defect[] = [
  {
    name: 'two services: after a reload, another person is identified on the same visitor id by the tracker whose part was overwritten',
    invariant: INVARIANTS.person,
    issue: 16,
    plan: twoTrackers([identifies('ann'), reloads, identifies('bob')]),
    mayShow: (plan) => hasTwoServices(plan) && isIdentified(plan),
  },
  {
    name: 'two services: after a reload, a person is identified again by the tracker whose part was overwritten',
    invariant: INVARIANTS.identify,
    issue: 16,
    plan: twoTrackers([identifies('ann'), reloads, identifies('ann')]),
    mayShow: (plan) => hasTwoServices(plan) && isIdentified(plan),
  },
  {
    name: "two services: after a reload, a customer's properties are refused by the tracker whose part was overwritten",
    invariant: INVARIANTS.lost,
    issue: 16,
    plan: twoTrackers([identifies('ann'), reloads, { wait: { ms: 6000 }, action: { verb: 'setProperties', tab: 0 } }]),
    mayShow: (plan) => hasTwoServices(plan) && isIdentified(plan) && has(plan, 'setProperties'),
  },
  {
    name: 'what is tracked after stop() is stored nowhere: offline, it is lost with its page',
    invariant: INVARIANTS.lost,
    issue: 16,
    plan: relayed(
      519,
      [
        { wait: now, action: { verb: 'flush', tab: 0 } },
        { wait: now, action: { verb: 'offline' } },
        { wait: { ms: 637 }, action: { verb: 'stop', tab: 0 } },
      ],
      { theme: 'npm', features: MODERN, hasStub: false, npm: { hasOther: false, hasTransport: false } },
    ),
    mayShow: (plan) => stops(plan) && (hasFaults(plan) || has(plan, 'restartRelay')),
  },
  {
    name: 'events that a page has journaled one by one are handed over by another page in reverse order',
    invariant: INVARIANTS.order,
    issue: 16,
    plan: relayed(
      301164,
      [
        { wait: { tasks: 0 }, action: { verb: 'trickle', tab: 1, ms: 41564 } },
        { wait: { ms: 22 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { ms: 1673 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { tasks: 9 }, action: { verb: 'trackAndLeave', tab: 1, count: 3 } },
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 1, count: 4, name: 'walk' } },
        { wait: { tasks: 10 }, action: { verb: 'open', tab: 0 } },
        { wait: { tasks: 0 }, action: { verb: 'back', tab: 2 } },
        { wait: { ms: 38 }, action: { verb: 'trackOther', tab: 2, count: 3 } },
        { wait: { tasks: 0 }, action: { verb: 'trackAndLeave', tab: 0, count: 4, size: 20000 } },
      ],
      {
        theme: 'npm',
        features: { hasLocks: true, hasChannel: true, hasFetchLater: true, hasGpc: false },
        dataset: { baseUrl: '/clew', maxBatchEvents: '5' },
        hasStub: false,
        npm: { hasOther: false, hasTransport: true },
      },
    ),
    mayShow: leaves,
  },
];
