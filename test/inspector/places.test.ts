import { expect, it } from 'vitest';
import { nameOf, placeDocked } from '../../src/inspector/places.ts';

it('one docked inspector has the whole width, and several share it', () => {
  const elements = [1, 2].map(() => ({ style: {} as CSSStyleDeclaration }));
  const edges = () => elements.map(({ style: { left, right } }) => [left, right]);
  placeDocked(elements);
  expect(edges()).toEqual([
    ['0%', '50%'],
    ['50%', '0%'],
  ]);
  placeDocked(elements.slice(1));
  expect(edges()[1]).toEqual(['0%', '0%']);
});

it('inspectors have different names', () => {
  expect([0, 1, 2].map(nameOf)).toEqual(['clew inspector', 'clew inspector 2', 'clew inspector 3']);
});
