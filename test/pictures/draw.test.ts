import { expect, it } from 'vitest';
import { drawOutage } from '../../demo/pictures/draw.ts';
import { changesOf, type Run } from '../../demo/pictures/run.ts';
import { read } from '../docs/markdown.ts';

/** Three events: one before the outage, one in it, and one after it. */
const run: Run = {
  length: 20,
  outage: { from: 4, to: 12 },
  events: [
    { tracked: 1, stored: 1.5 },
    { tracked: 5, stored: 12.5 },
    { tracked: 13, stored: 13.01 },
  ],
  queued: [
    { at: 0, value: 0 },
    { at: 5, value: 1 },
    { at: 12.5, value: 0 },
  ],
  stored: [
    { at: 0, value: 0 },
    { at: 1.5, value: 1 },
    { at: 12.5, value: 2 },
    { at: 13.01, value: 3 },
  ],
  answers: [
    { at: 1.4, status: 201 },
    { at: 5.1, status: 502 },
    { at: 5.2, status: 502 },
    { at: 7, status: 502 },
    { at: 12.4, status: 201 },
  ],
};
const picture = drawOutage(run);

/** Key frames by their percent, as `[percent, declarations]`. */
const framesOf = (name: string): [number, string][] => {
  const [, frames = ''] = new RegExp(`@keyframes ${name}\\{((?:[^{}]*\\{[^{}]*\\})*)\\}`).exec(picture) ?? [];
  return [...frames.matchAll(/([^{}]+)\{([^{}]*)\}/g)].flatMap(([, times = '', style = '']) =>
    times.split(',').map((time): [number, string] => [Number.parseFloat(time), style]),
  );
};

it('closes each element, and opens no other', () => {
  const open: string[] = [];
  for (const [, slash, name = '', , end] of picture.matchAll(/<(\/?)([a-z]+)("[^"]*"|[^"<>])*?(\/?)>/g)) {
    if (slash) expect(open.pop()).toBe(name);
    else if (!end) open.push(name);
  }
  expect(open).toEqual([]);
  expect(picture).not.toMatch(/NaN|undefined|Infinity/);
});

it('ends with the figures of the run', () => {
  expect(picture).toContain('>3 tracked, 3 stored, none twice.</text>');
  expect(picture).toContain('>1 waiting</text>');
});

it('moves an event when it was tracked and stored, by key frames in the order of time', () => {
  expect(framesOf('e1').map(([percent]) => percent)).toEqual([0, 25, 25.1, 60.75, 62.5]);
  for (const name of ['e0', 'e1', 'e2', 'queued', 'kept', 't0', 't1', 't2', 't3', 'bad', 'peak', 'refused']) {
    const percents = framesOf(name).map(([percent]) => percent);
    expect(percents, name).toEqual(percents.toSorted((one, other) => one - other));
  }
});

it('shows refusals that follow each other closely as one', () => {
  expect(framesOf('refused').filter(([, style]) => style === 'opacity:1')).toEqual([
    [25.5, 'opacity:1'],
    [35, 'opacity:1'],
  ]);
});

it('shows the end of the run to a reader who prefers no motion', () => {
  expect(picture.match(/[^{}]*\{[^{}]*animation-duration/g)).toEqual([expect.stringContaining('.event,')]);
  expect(picture).toMatch(/prefers-reduced-motion: no-preference\)\{\s*\.event,/);
  expect(picture).toMatch(/\.t3\{animation:t3 step-end;opacity:1\}/);
  expect(picture).toMatch(/\.bad\{animation:bad step-end;opacity:0\}/);
  // The fourth line of the column is the count of all three.
  expect(picture).toContain('.kept{animation:kept step-end;transform:translateY(-120px)}');
});

it('the picture of the README shows a run in which each event was stored, as its text states', () => {
  const [, tracked, stored] = />(\d+) tracked, (\d+) stored, none twice/.exec(read('docs/images/outage.svg')) ?? [];
  expect(Number(tracked)).toBeGreaterThan(0);
  expect(stored).toBe(tracked);
  const [, text] = /!\[([^\]]*)\]\(docs\/images\/outage\.svg\)/.exec(read('README.md')) ?? [];
  expect(text).toContain(`stores all ${stored} events, each once`);
});

it('keeps the first of several equal samples', () => {
  const samples = [0, 0, 1, 1, 0].map((value, at) => ({ at, value }));
  expect(changesOf(samples).map(({ at }) => at)).toEqual([0, 2, 4]);
});
