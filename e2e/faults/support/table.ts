import type { TestCase, TestResult } from '@playwright/test/reporter';
import type { Verdict } from './verdict.ts';

/** A test's line of the table. */
export interface Row {
  fault: number;
  title: string;
  engine: string;
  hasPassed: boolean;
  seconds: number;
  /** Why the fault cannot be made in this browser. */
  cannot?: string;
  /** None when the test ended before its verdict. */
  verdict?: Verdict;
}

const NAMES: Record<string, string> = { chromium: 'Chromium', firefox: 'Firefox', webkit: 'WebKit' };

export const rowOf = (test: TestCase, result: TestResult): Row => {
  const find = (type: string) => result.annotations.find((annotation) => annotation.type === type)?.description;
  const verdict = find('verdict');
  return {
    fault: Number.parseInt(test.title, 10),
    title: test.title,
    engine: test.parent.project()?.name ?? '',
    hasPassed: result.status === 'passed',
    seconds: result.duration / 1000,
    ...(result.status === 'skipped' && { cannot: find('skip') ?? '' }),
    ...(verdict && { verdict: JSON.parse(verdict) as Verdict }),
  };
};

const showOutcome = ({ cannot, verdict }: Row): string => {
  if (cannot !== undefined) return `cannot: ${cannot}`;
  if (!verdict) return 'NO VERDICT';
  const { runs, survived, lost, twice, wrong, repeats } = verdict;
  const counts = `lost ${lost} · twice ${twice} · wrong ${wrong} · repeats ${repeats}`;
  return `${survived < runs ? 'NOT ' : ''}survived ${survived} of ${runs} · ${counts}`;
};

export const showRow = (row: Row): string =>
  `${row.title} · ${NAMES[row.engine]} · ${showOutcome(row)} · ${row.seconds.toFixed(1)} s`;

const sumOf = (rows: Row[], field: 'lost' | 'twice' | 'wrong' | 'repeats') =>
  rows.reduce((sum, { verdict }) => sum + (verdict?.[field] ?? 0), 0);

const counts = (rows: Row[]) =>
  (['lost', 'twice', 'wrong', 'repeats'] as const).map((field) => `${field} ${sumOf(rows, field)}`).join(', ');

/** A fault is survived if all of its tests pass. A fault cannot be made if none of its tests can. */
const showEngine = (engine: string, rows: Row[]): string => {
  const played = rows.filter(({ cannot }) => cannot === undefined);
  const faults = new Set(played.map(({ fault }) => fault));
  const fallen = new Set(played.filter(({ hasPassed }) => !hasPassed).map(({ fault }) => fault));
  const impossible = new Set(rows.map(({ fault }) => fault).filter((fault) => !faults.has(fault)));
  const note = impossible.size ? ` (${impossible.size} cannot be made there)` : '';
  return `${faults.size - fallen.size} of ${faults.size} faults survived in ${NAMES[engine]}${note}`;
};

/** A line for each browser, and one for all. */
export const showTotals = (rows: Row[]): string[] => {
  const engines = Object.keys(NAMES)
    .map((engine) => ({ engine, own: rows.filter((row) => row.engine === engine) }))
    .filter(({ own }) => own.length);
  return [
    ...engines.map(({ engine, own }) => `${showEngine(engine, own)}; ${counts(own)}`),
    `${engines.map(({ engine, own }) => showEngine(engine, own)).join(', ')}; ${counts(rows)}`,
  ];
};
