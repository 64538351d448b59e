import { describe, expect, it } from 'vitest';
import { eventFault } from '../../src/service/eventFault.ts';
import { blocksOf, read } from './markdown.ts';
import { membersOf } from './types.ts';

/** The code in the first cells of a page's tables, with the next cell of each. With a heading: only of the tables below it. */
const rowsOf = (page: string, heading = ''): Map<string, string> => {
  const [, below = ''] = heading ? read(page).split(`\n## ${heading}\n`) : ['', read(page)];
  const [section = ''] = heading ? below.split('\n## ') : [below];
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return new Map(
    rows.flatMap((row) => {
      const [, names = '', next = ''] = row.split(/(?<!\\)\|/).map((cell) => cell.trim());
      return [...names.matchAll(/`([\w-]+)[^`]*`/g)].map(([, name]) => [name ?? '', next] as const);
    }),
  );
};

describe.each([
  ['docs/tracker.md', 'Options', 'dist/api/options.d.ts', 'TrackerOptions'],
  ['docs/tracker.md', 'Methods', 'dist/api/types.d.ts', 'Tracker'],
  ['docs/tracker.md', 'Signals', 'dist/api/signals.d.ts', 'Signals'],
  ['docs/relay.md', 'Options', 'dist/relay/options.d.ts', 'RelayOptions'],
  ['docs/relay.md', 'Reports', 'dist/relay/report.d.ts', 'RelayReport'],
  ['docs/service.md', '', 'dist/service.d.ts', 'Service'],
  ['docs/service.md', '', 'dist/service/options.d.ts', 'ServiceOptions'],
  ['docs/testing.md', '', 'dist/testing/testTransport.d.ts', 'TestTransport'],
  ['docs/vue.md', '', 'dist/vue.d.ts', 'ClewOptions'],
])('%s, %s', (page, heading, file, name) => {
  const rows = rowsOf(page, heading);
  const members = membersOf(file, name);

  it(`has every member of ${name}`, () => {
    expect(members.size).toBeGreaterThan(0);
    // An example shows `transport`, which a test passes to another tracker.
    expect([...members.keys()].filter((member) => !rows.has(member) && member !== 'transport')).toEqual([]);
  });

  it('has the defaults of the types', () => {
    /** The default, or undefined if it is an explanation and not a value. */
    const plainOf = (text = '') => /^(\d+|true|false|'\w+')(?=\s|$)/.exec(text.replaceAll('`', ''))?.[0];
    for (const [member, value] of members)
      if (plainOf(value) && rows.has(member)) expect(plainOf(rows.get(member)), member).toBe(plainOf(value));
  });
});

it('the documentation explains every reason for a drop', () => {
  const [, type = ''] = /DropReason = ([^;]*);/.exec(read('dist/api/signals.d.ts')) ?? [];
  const reasons = [...type.matchAll(/'([\w-]+)'/g)].map(([, reason]) => reason ?? '');
  const explained = [...read('docs/tracker.md').matchAll(/^\| `([\w-]+)`/gm)].map(([, name]) => name);
  expect(reasons.filter((reason) => !explained.includes(reason))).toEqual([]);
});

it('the relay accepts the documented event', () => {
  const [event] = blocksOf('docs/events.md').filter(({ lang }) => lang === 'json');
  expect(eventFault(JSON.parse(event?.text ?? ''))).toBeUndefined();
});

it('the relay accepts the events of the interface', () => {
  const bodies = blocksOf('docs/interface.md').map(({ text }) => JSON.parse(text) as { batch?: unknown[] });
  const events = bodies.flatMap(({ batch = [] }) => batch);
  expect(events.map((event) => (event as { event: string }).event)).toEqual(['signup', '$identify']);
  expect(events.map((event) => eventFault(event))).toEqual([undefined, undefined]);
});

it('the oldest browsers are those of the supported versions', () => {
  const versionsIn = (page: string) =>
    [...read(page).matchAll(/^\| (Chrome|Firefox|Safari)[^|]*\| (\d+)/gm)].map(
      ([, name, version]) => `${name} ${version}`,
    );
  const [chrome, firefox, safari] = versionsIn('docs/versions.md');
  expect(versionsIn('docs/browsers.md')).toEqual([chrome, firefox, safari, safari]);
});

it('the glossary is in the order of the alphabet', () => {
  const terms = [...read('docs/glossary.md').matchAll(/^\| ([a-z][^|]*?) +\|/gm)]
    .map(([, term]) => term ?? '')
    .slice(1);
  expect(terms.length).toBeGreaterThan(30);
  expect(terms).toEqual(terms.toSorted((a, b) => a.localeCompare(b, 'en')));
});
