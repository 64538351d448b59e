import { expect, it } from 'vitest';
import { read } from './markdown.ts';

/** Figures that pages name, and where the source has them: whoever changes one is told of the other. */
const FIGURES: [page: string, sentence: string, file: string, declaration: string][] = [
  ['README.md', 'the newest 100,000 events for a day', 'src/relay/seen.ts', 'maxEvents = 100_000'],
  ['README.md', 'events for a day', 'src/relay/seen.ts', 'maxAge = DAY,'],
  ['README.md', 'each event to IndexedDB in a microtask', 'src/outbox/queue.ts', 'queueMicrotask(persist)'],
  ['docs/delivery.md', 'stops 24 ms after the first call', 'src/recorder/recorder.ts', 'const BURST = 24;'],
  ['docs/delivery.md', 'in slices of 6 ms', 'src/recorder/recorder.ts', 'const SLICE = 6;'],
  ['docs/delivery.md', 'for 22 s at a time', 'src/courier/lease.ts', 'const LEASE = REQUEST_TIMEOUT + 2 * SECOND;'],
  ['docs/delivery.md', 'time-out after 20 s', 'src/courier/lease.ts', 'const REQUEST_TIMEOUT = 20 * SECOND;'],
  [
    'docs/delivery.md',
    'after 1 s, doubling to 5 min',
    'src/courier/lease.ts',
    'Math.min(SECOND * doubled, 5 * MINUTE)',
  ],
  ['docs/delivery.md', 'after 5 min, doubling to an hour', 'src/courier/lease.ts', '? 5 * MINUTE * doubled'],
  ['docs/delivery.md', 'obeys it up to an hour', 'src/courier/lease.ts', 'Math.max(wait, retryAfter), HOUR)'],
  ['docs/delivery.md', 'only when that happened four times', 'src/courier/bisect.ts', 'const STRIKES = 4;'],
  ['docs/delivery.md', 'Five single events refused in a row', 'src/courier/bisect.ts', 'const BREAKER = 5;'],
  ['docs/delivery.md', 'less than 500,000 characters', 'src/stub.ts', 'const MOST = 5e5;'],
  ['docs/delivery.md', 'leaves the database alone for 1 s', 'src/outbox/store.ts', 'const FIRST_REST = 1000;'],
  ['docs/delivery.md', 'doubling to a minute', 'src/outbox/store.ts', 'const LONGEST_REST = 60_000;'],
  ['docs/delivery.md', 'later than `maxAge` (30 days)', 'src/api/options.ts', 'maxAge: 2_592_000_000,'],
  [
    'docs/delivery.md',
    'SIGKILL of the browser within ten seconds',
    'sim/walk/identityChecks.ts',
    'const KILL = 10_000;',
  ],
  ['ARCHITECTURE.md', 'finishes 200 of the calls', 'src/visitor/visitor.ts', 'const AT_ONCE = 200;'],
  ['docs/privacy.md', 'names of at most 30 pages', 'src/visitor/visitor.ts', 'const MOST_TAKEN = 30;'],
  ['docs/tracker.md', 'at most 500 times in one task', 'src/api/signals.ts', 'const MOST_RUNS = 500;'],
  ['docs/delivery.md', 'the first 50 calls of a task', 'src/recorder/recorder.ts', 'const AT_ONCE = 50;'],
  ['docs/delivery.md', 'at most 500,000 characters of events', 'src/outbox/journal.ts', 'const MOST_OPEN = 5e5;'],
  ['docs/delivery.md', 'up to four million characters', 'src/outbox/journal.ts', 'const MOST_LEFT = 4e6;'],
  ['docs/delivery.md', 'more than 1,000 calls wait', 'src/visitor/visitor.ts', 'const MOST_JOURNALED = 1e3;'],
  ['docs/delivery.md', 'ten million characters', 'src/outbox/size.ts', 'const MOST_LENGTH = 1e7;'],
  ['docs/delivery.md', 'at most 65,536 bytes', 'src/courier/flight.ts', 'const KEEPALIVE_QUOTA = 65_536;'],
  [
    'docs/delivery.md',
    'confirmed something within ten minutes',
    'src/courier/lease.ts',
    'const PROVEN_FOR = 10 * MINUTE;',
  ],
  ['docs/delivery.md', 'at most four in a row', 'src/courier/bisect.ts', 'const BREAKER = 5;'],
  ['docs/delivery.md', '500 to four more tries', 'src/courier/bisect.ts', 'const STRIKES = 4;'],
  ['docs/delivery.md', 'after 100,000 newer events', 'src/relay/seen.ts', 'maxEvents = 100_000'],
  ['docs/delivery.md', 'forgets an event after a day', 'src/relay/seen.ts', 'maxAge = DAY'],
  ['docs/delivery.md', 'It forgets after 30 days', 'src/relay/seen.ts', 'maxAge = 30 * DAY'],
  ['docs/relay.md', 'deletes each key after 30 days', 'src/relay/seen.ts', 'maxAge = 30 * DAY'],
  ['docs/relay.md', 'at most 500 characters', 'src/service/eventFault.ts', 'MAX_KEY_LENGTH = 500'],
  ['docs/relay.md', 'at most 200 levels', 'src/service/eventFault.ts', 'MAX_DEPTH = 200'],
  ['docs/relay.md', 'at least 32 bytes', 'src/relay/signature.ts', 'SECRET_BYTES = 32'],
  ['docs/relay.md', 'the first 64 KiB', 'src/relay/send.ts', 'MOST_READ = 65_536'],
  ['docs/direct.md', 'answered within ten minutes', 'src/courier/lease.ts', 'const PROVEN_FOR = 10 * MINUTE;'],
  ['docs/tracker.md', 'within 21 s', 'src/courier/ask.ts', 'const PATIENCE = REQUEST_TIMEOUT + 1000;'],
  ['docs/tracker.md', 'ten million characters', 'src/outbox/size.ts', 'const MOST_LENGTH = 1e7;'],
  ['docs/without-code.md', 'has stood for 100 ms', 'src/page/navigation.ts', 'const SETTLING = 100;'],
  ['docs/privacy.md', 'not older than two minutes', 'src/visitor/linkDomains.ts', 'const MAX_AGE = 120;'],
  ['docs/privacy.md', '400 days', 'src/relay/visitorCookie.ts', 'const MAX_AGE = 34_560_000;'],
  ['docs/relay.md', 'hold for two hours', 'src/relay/answer.ts', "'Access-Control-Max-Age': '7200'"],
  [
    'docs/relay.md',
    'after 100 to 200 ms, and after 500 to 1,000 ms',
    'src/relay/retry.ts',
    'const BEACON_RETRIES = [200, 1000];',
  ],
  ['docs/relay.md', 'the newest 100,000 events', 'src/relay/seen.ts', 'maxEvents = 100_000'],
  ['docs/relay.md', 'the newest 10,000 page loads', 'src/relay/report.ts', 'const MOST_PAGES = 10_000;'],
  ['docs/relay.md', '`maxPending` (60,000 ms)', 'src/relay/seen.ts', 'const MINUTE = 60_000;'],
];

it.each(FIGURES)('%s: "%s" matches %s', (page, sentence, file, declaration) => {
  expect(read(page)).toContain(sentence);
  expect(read(file)).toContain(declaration);
});
