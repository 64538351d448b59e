import type { HandoverState } from '../wire.js';
import type { BookTotals } from './books.js';
import type { Question } from './receipts.js';
import { missingIn } from './report.js';

/** Counters, gauges and histograms, as OpenMetrics text: https://prometheus.io/docs/specs/om/open_metrics_spec/ */

/** Upper bounds of the histograms, in s. */
const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface Histogram {
  /** One more than bounds: the last one has no bound. */
  readonly counts: number[];
  sum: number;
}

const newHistogram = (): Histogram => ({ counts: Array(BOUNDS.length + 1).fill(0), sum: 0 });

const observe = (histogram: Histogram, ms: number): void => {
  const seconds = ms / 1000;
  const at = BOUNDS.findIndex((bound) => seconds <= bound);
  const place = at < 0 ? BOUNDS.length : at;
  histogram.counts[place] = (histogram.counts[place] ?? 0) + 1;
  histogram.sum += seconds;
};

const histogramLines = (name: string, { counts, sum }: Histogram): string[] => {
  let total = 0;
  const buckets = counts.map((count, at) => {
    total += count;
    return `${name}_bucket{le="${BOUNDS[at]?.toFixed(3) ?? '+Inf'}"} ${total}`;
  });
  return [
    `# TYPE ${name} histogram`,
    `# UNIT ${name} seconds`,
    ...buckets,
    `${name}_count ${total}`,
    `${name}_sum ${sum}`,
  ];
};

/** Counts by the value of one label. */
type Counts = Map<string, number>;
const add = (counts: Counts, label: string, by = 1) => void counts.set(label, (counts.get(label) ?? 0) + by);

const counterLines = (name: string, label: string, counts: Counts): string[] => [
  `# TYPE ${name} counter`,
  ...[...counts].sort().map(([value, count]) => `${name}_total{${label}="${value}"} ${count}`),
];

/** The states of the events of a row, in the order of their path. */
const STATES = ['tracked', 'delivered', 'missing', 'unknown'] as const;

/**
 * Gauges, because events leave one state for another. All relays that share a store have the same totals.
 */
const bookLines = (books: readonly BookTotals[]): string[] => {
  const labels = ({ release, engine, day }: BookTotals) => `release="${release}",engine="${engine}",day="${day}"`;
  const detailed = (name: string, label: string, of: (row: BookTotals) => Readonly<Record<string, number>>) => [
    `# TYPE ${name} gauge`,
    ...books.flatMap((row) =>
      Object.entries(of(row)).map(([value, count]) => `${name}{${labels(row)},${label}="${value}"} ${count}`),
    ),
  ];
  return [
    '# TYPE clew_relay_missing_events gauge',
    `clew_relay_missing_events ${missingIn(books)}`,
    ...detailed('clew_relay_book_events', 'state', (row) => Object.fromEntries(STATES.map((one) => [one, row[one]]))),
    ...detailed('clew_relay_book_dropped_events', 'reason', ({ dropped }) => dropped),
    ...detailed('clew_relay_book_late_events', 'age', ({ late }) => late),
  ];
};

/** The first word of a reason, if it is one of the relay's: a page must not be able to add labels. */
const FIELDS = ['event', 'source', 'correlationKey', 'correlationValue', 'uuid', 'timestamp', 'payload', 'signature'];
const fieldOf = (reason: string): string => {
  const [word = ''] = /^\w+/.exec(reason) ?? [];
  return FIELDS.includes(word) ? word : 'other';
};

/** `unanswered`: the relay could not find out the state in time. */
const HANDOVER_STATES = ['taken', 'unknown', 'forgotten', 'unanswered'] as const;

/** Counts the relay's requests, events and answers since its start. */
export const createMetrics = () => {
  const requests: Counts = new Map();
  const events: Counts = new Map([
    ['received', 0],
    ['forwarded', 0],
    ['duplicate', 0],
  ]);
  const rejections: Counts = new Map();
  const refusals: Counts = new Map();
  const handovers: Counts = new Map(HANDOVER_STATES.map((state) => [state, 0]));
  const answers: Counts = new Map();
  const failures: Counts = new Map([
    ['seen', 0],
    ['buckets', 0],
  ]);
  const durations = { request: newHistogram(), forward: newHistogram() };
  let limited = 0;
  let bots = 0;
  let corrected = 0;
  return {
    request(status: number, ms: number): void {
      add(requests, `${status}`);
      observe(durations.request, ms);
    },
    event: (what: 'received' | 'forwarded' | 'duplicate', count: number) => add(events, what, count),
    rejected: (reasons: readonly string[]) => {
      for (const reason of reasons) add(rejections, fieldOf(reason));
    },
    /** `accept` has a reason of its own for each event, and so have you for `bots`. */
    dropped: (by: 'event' | 'accept' | 'bots', count: number) => void (count && add(rejections, by, count)),
    /** @param reason why, of a fixed list */
    refusedIdentity: (reason: string) => add(refusals, reason),
    /** Events that bots have sent, dropped or not. */
    ofBots(count: number): void {
      bots += count;
    },
    /** Forwarded events whose time was corrected. */
    corrected(count: number): void {
      corrected += count;
    },
    /** @param states the states of the handovers that a request asks about, or undefined if the relay does not know them */
    asked(questions: readonly Question[], states: readonly HandoverState[] | undefined): void {
      for (const at of questions.keys()) add(handovers, states?.[at] ?? 'unanswered');
    },
    /** @param status the status of the answer, or undefined if there was none */
    forward(status: number | undefined, ms: number): void {
      add(answers, `${status ?? 'none'}`);
      observe(durations.forward, ms);
    },
    failure: (store: 'seen' | 'buckets') => add(failures, store),
    limited: () => void limited++,
    /** @param books the totals of the books, or undefined if they are not known yet */
    text: (forwards: number, books: readonly BookTotals[] | undefined): string =>
      [
        ...counterLines('clew_relay_requests', 'status', requests),
        '# TYPE clew_relay_limited_requests counter',
        `clew_relay_limited_requests_total ${limited}`,
        ...counterLines('clew_relay_events', 'what', events),
        ...counterLines('clew_relay_rejected_events', 'field', rejections),
        ...counterLines('clew_relay_refused_identities', 'reason', refusals),
        '# TYPE clew_relay_bot_events counter',
        `clew_relay_bot_events_total ${bots}`,
        '# TYPE clew_relay_corrected_events counter',
        `clew_relay_corrected_events_total ${corrected}`,
        ...(books ? bookLines(books) : []),
        ...counterLines('clew_relay_handovers', 'state', handovers),
        ...counterLines('clew_relay_forward_answers', 'status', answers),
        '# TYPE clew_relay_forwards_in_flight gauge',
        `clew_relay_forwards_in_flight ${forwards}`,
        ...counterLines('clew_relay_store_errors', 'store', failures),
        ...histogramLines('clew_relay_request_duration_seconds', durations.request),
        ...histogramLines('clew_relay_forward_duration_seconds', durations.forward),
        '# EOF\n',
      ].join('\n'),
  };
};

export type Metrics = ReturnType<typeof createMetrics>;
