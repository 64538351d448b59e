import { expect, it } from 'vitest';
import engines from '../../e2e/engines/playwright.config.ts';
import facts from '../../e2e/facts/playwright.config.ts';
import faults from '../../e2e/faults/playwright.config.ts';
import chromium from '../../e2e/playwright.config.ts';
import walks from '../../e2e/walks/playwright.config.ts';
import unit from '../vitest.config.ts';

it('a forgotten `only` fails the run, also where CI is not set', () => {
  expect(unit.test?.allowOnly).toBe(false);
  for (const { forbidOnly } of [chromium, engines, facts, faults, walks]) expect(forbidOnly).toBe(true);
});
