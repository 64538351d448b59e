import { expect, it } from 'vitest';
import { inlineScriptsOf } from './compile.ts';
import { blocks, placeOf, read } from './markdown.ts';
import { membersOf } from './types.ts';

const html = blocks.filter(({ lang }) => lang === 'html');
/** Options with functions or objects, which no attribute can hold. */
const NOT_IN_A_TAG = ['beforeSend', 'plugins', 'transport', 'store'];

const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const known = [...membersOf('dist/api/options.d.ts', 'TrackerOptions').keys()]
  .filter((name) => !NOT_IN_A_TAG.includes(name))
  .map((name) => `data-${kebab(name)}`);
/** Attributes that another system, such as WordPress, adds to a script tag. */
const FOREIGN = ['data-wp-strategy'];
const namesIn = (text: string) => [...text.matchAll(/[\s'"](data-[a-z-]+)/g)].map(([, name]) => name ?? '');

it('every attribute of a script tag is an option', () => {
  expect(known).toContain('data-base-url');
  const faults = html.flatMap((block) =>
    namesIn(block.text)
      .filter((name) => !name.startsWith('data-clew-') && ![...known, ...FOREIGN].includes(name))
      .map((name) => `${placeOf(block)}: ${name}`),
  );
  expect(faults).toEqual([]);
});

it('the script tag page lists every attribute', () => {
  const rows = read('docs/script-tag.md')
    .split('\n')
    .filter((line) => line.startsWith('| `data-'));
  expect(rows.flatMap((row) => namesIn(row.replaceAll('`', ' '))).toSorted()).toEqual(known.toSorted());
});

it('every marked element names an event', () => {
  const marks = html.flatMap(({ text }) => text.match(/<[a-z]+ [^>]*data-clew-[^>]*>/g) ?? []);
  expect(marks.length).toBeGreaterThan(0);
  expect(marks.filter((tag) => !/data-clew-(event|form)="/.test(tag))).toEqual([]);
});

it('every stub on a page is the stub that the build makes', () => {
  const shown = html.flatMap(inlineScriptsOf).filter(({ text }) => text.includes('clew.calls'));
  for (const block of shown) expect(block.text.trim(), placeOf(block)).toBe(read('dist/stub.js'));
  // The README has a comment in place of the stub's code.
  expect(read('README.md')).toContain('<script>/* contents of dist/stub.js */</script>');
});
