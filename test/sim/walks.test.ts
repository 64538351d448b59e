// @module-tag promise
import { beforeAll, expect, it } from 'vitest';
import { loadScripts, type Scripts } from '../../sim/bundle.ts';
import { INVARIANTS } from '../../sim/walk/checks.ts';
import { createPlan } from '../../sim/walk/createPlan.ts';
import type { Plan } from '../../sim/walk/plan.ts';
import { runPlan } from '../../sim/walk/run.ts';
import { createProgram } from '../../sim/world/program.ts';

let scripts: Scripts;
beforeAll(async () => {
  scripts = await loadScripts();
});

const timelineOf = async (plan: Plan) => {
  const lines: string[] = [];
  await runPlan(scripts, plan, (line) => lines.push(line));
  return lines;
};

it.each([1, 2, 3, 17])('seed %i gives the same timeline each time', async (seed) => {
  const timeline = await timelineOf(createPlan(seed));
  expect(timeline.length).toBeGreaterThan(20);
  expect(await timelineOf(createPlan(seed))).toEqual(timeline);
});

it('another seed gives another timeline for the same steps', async () => {
  const plan = createPlan(1);
  expect(await timelineOf({ ...plan, seed: 2 })).not.toEqual(await timelineOf(plan));
});

/** One step, with this script in place of `clew.js`. */
const walkWith = async (tag: string) => {
  const [step] = createPlan(1).steps;
  const plan: Plan = {
    ...createPlan(1),
    isDirect: true,
    hasStub: false,
    steps: step ? [{ ...step, action: { verb: 'close', tab: 0 } }] : [],
  };
  const lines: string[] = [];
  const { broken } = await runPlan({ ...scripts, tag: createProgram(tag, 'tag.js') }, plan, (line) => lines.push(line));
  return { lines, broken, errors: broken.filter(({ invariant }) => invariant === INVARIANTS.error) };
};

it('runs the microtasks of an unloading page before the page ends', async () => {
  const { lines } = await walkWith(
    `addEventListener('pagehide', async () => {
      for (let i = 0; i < 50; i++) await null;
      navigator.sendBeacon('/last', 'x');
    })`,
  );
  expect(lines.filter((line) => line.includes('page1     sends 1 bytes to /last'))).toHaveLength(1);
});

it.each([
  ['a call that throws', `window.clew = (method) => { if (method === 'on') throw new Error('thrown'); }`],
  ['a microtask that throws', `setTimeout(() => queueMicrotask(() => { throw new Error('thrown'); }), 1)`],
  ['a rejection', `setTimeout(() => { Promise.reject(new Error('thrown')); }, 1)`],
])('reports %s as an error of its walk', async (_, tag) => {
  const { errors } = await walkWith(tag);
  expect(errors).toMatchObject([{ detail: expect.stringContaining('thrown') }]);
});

it('finds an event that is dropped without a reason', async () => {
  const { broken } = await walkWith(
    `let drop; window.clew = (method, ...args) => {
      if (method === 'on' && args[0] === 'dropped') drop = args[1];
      if (method === 'track') drop({ events: [{ payload: args[1] }], reason: 'expired' });
    }`,
  );
  expect(broken.map(({ invariant }) => invariant)).toEqual([INVARIANTS.dropped]);
});
