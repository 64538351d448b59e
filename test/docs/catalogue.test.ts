import { expect, it } from 'vitest';
import { readJourneys } from '../../src/catalogue/journeys.ts';
import { markdownOf } from '../../src/catalogue/markdown.ts';
import { reportOn } from '../../src/catalogue/report.ts';
import { HELP } from '../../src/server/catalogue.ts';
import { catalogueOf } from '../catalogue/readSource.ts';
import { blocksOf, read } from './markdown.ts';

const PAGE = 'docs/catalogue.md';
const [source = '', , section = '', journeys = '', , report = ''] = blocksOf(PAGE).map(({ text }) => text);
const eventsOf = (text: string) =>
  catalogueOf(text.replace(/^import.*$|^export const tracker.*$/gm, '').replace('AppEvents', 'Events'));

it('the page shows what the command writes', () => {
  expect(markdownOf(eventsOf(source), [])).toContain(`\n${section.trim()}\n`);
});

it('the page shows what the command prints', () => {
  const now = eventsOf(source.replace("'free' | 'pro'", "'free'"));
  expect(reportOn(eventsOf(source), now, readJourneys(JSON.parse(journeys))).text.trim()).toBe(report.trim());
});

it('the page lists each option of the command', () => {
  const options = (text: string) => [...text.matchAll(/(--\w+) <[\w#|]/g)].map(([, name]) => name).toSorted();
  const [, table = ''] = read(PAGE).split('\n## Options\n');
  expect(options(table.split('\n## ')[0] ?? '')).toEqual(options(HELP));
});
