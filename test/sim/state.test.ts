// @module-tag promise
import { beforeAll, expect, it } from 'vitest';
import { loadScripts, type Scripts } from '../../sim/bundle.ts';
import { FORMS, type Form } from '../../sim/server/foreign.ts';
import { direct, now, relayed } from '../../sim/walk/breakPlans.ts';
import { INVARIANTS } from '../../sim/walk/checks.ts';
import type { Plan } from '../../sim/walk/plan.ts';
import { runPlan } from '../../sim/walk/run.ts';
import { createProgram } from '../../sim/world/program.ts';
import { rangesOf } from '../../sim/world/ranges.ts';

let scripts: Scripts;
beforeAll(async () => {
  scripts = await loadScripts();
});

const walk = async (plan: Plan, given = scripts) => {
  const lines: string[] = [];
  const { broken } = await runPlan(given, plan, (line) => lines.push(line));
  return { broken, linesWith: (text: string) => lines.filter((line) => line.includes(text)) };
};

it('finds data that is stored for ten milliseconds after a refusal', async () => {
  const tag = createProgram(
    `window.clew = (method, isGranted) => {
      if (method !== 'consent' || isGranted) return;
      setTimeout(() => { localStorage.left = '1'; setTimeout(() => { delete localStorage.left; }, 10); }, 6000);
    }`,
    'tag.js',
  );
  const plan = relayed(
    1,
    [
      { wait: now, action: { verb: 'consent', tab: 0, isGranted: true } },
      { wait: now, action: { verb: 'consent', tab: 0, isGranted: false } },
      { wait: { ms: 20_000 }, action: { verb: 'flush', tab: 0 } },
    ],
    { ...direct, theme: 'consent', dataset: { ...direct.dataset, consent: 'required' } },
  );
  const { broken } = await walk(plan, { ...scripts, tag });
  expect(broken).toContainEqual(
    expect.objectContaining({ invariant: INVARIANTS.left, detail: 'localStorage has left' }),
  );
});

/** Three events while another server answers, and three after that. */
const walkWith = (form: Form, more: Partial<Plan> = {}) =>
  walk(
    relayed(
      1,
      [
        { wait: now, action: { verb: 'foreign', form } },
        { wait: now, action: { verb: 'track', tab: 0, count: 3, name: 'walk' } },
        { wait: { ms: 5000 }, action: { verb: 'network', kind: 'fair' } },
        { wait: now, action: { verb: 'track', tab: 0, count: 3, name: 'walk' } },
      ],
      { theme: 'foreign', hasStub: false, ...more },
    ),
  );

it.each(FORMS)('keeps events if another server answers: %s', async (form) => {
  const { broken, linesWith } = await walkWith(form);
  expect(broken).toEqual([]);
  expect(linesWith('service   takes walk')).toHaveLength(7);
});

it.each(FORMS)('keeps events without a relay if another server answers: %s', async (form) => {
  const { broken, linesWith } = await walkWith(form, direct);
  expect(broken).toEqual([]);
  expect(linesWith('service   takes walk')).toHaveLength(7);
});

it('the timeline shows answers, writes into localStorage and where the events are', async () => {
  const { linesWith } = await walkWith('page', direct);
  expect(linesWith('another server answers page1 200 <!doctype html>').length).toBeGreaterThan(0);
  expect(linesWith('writes into localStorage: clew.hint').length).toBeGreaterThan(0);
  expect(linesWith('service   answers page').length).toBeGreaterThan(0);
  expect(linesWith('IndexedDB: 1–3').length).toBeGreaterThan(0);
  expect(linesWith('service: 1–7').length).toBeGreaterThan(0);
});

it('shows numbers as ranges', () => {
  expect(rangesOf([5, 1, 2, 3, 2])).toBe('1–3, 5');
  expect(rangesOf([])).toBe('–');
});
