import type { Page } from '@playwright/test';
import type { Trace } from '../src/api/signals.ts';
import { expect, test } from './support/test.ts';

declare global {
  interface Window {
    steps: Trace[];
  }
}

const watch = (page: Page) =>
  page.evaluate(() => {
    window.steps = [];
    window.clew('on', 'trace', (step: Trace) => window.steps.push(step));
  });
const stepsOf = (page: Page) => page.evaluate(() => window.steps);
/** The steps of one kind. */
const only = <S extends Trace['step']>(steps: Trace[], kind: S) =>
  steps.filter((step): step is Extract<Trace, { step: S }> => step.step === kind);

test('the trace reports each step of an event, with the request and its answer', async ({ visitor }) => {
  await visitor.visit();
  await visitor.clew('flush');
  await watch(visitor.page);
  const [request] = await Promise.all([
    visitor.page.waitForRequest((request) => request.url().endsWith('/batch/')),
    visitor.clew('track', 'signup', { plan: 'pro' }),
  ]);
  await visitor.clew('flush');
  const steps = await stepsOf(visitor.page);
  const [tracked] = only(steps, 'tracked');
  const uuids = [tracked?.event.uuid];
  expect(tracked?.event).toMatchObject({ event: 'signup', payload: { plan: 'pro' } });
  expect(only(steps, 'stored')).toEqual([{ step: 'stored', uuids }]);
  const [sent] = only(steps, 'sent');
  expect(sent).toMatchObject({ uuids, path: '/api/events/batch/', leaving: false });
  expect(sent?.gzip).toBe(request.postDataBuffer()?.length);
  expect(sent?.bytes).toBeGreaterThan(sent?.gzip ?? Number.POSITIVE_INFINITY);
  expect(only(steps, 'answered')).toMatchObject([{ uuids, outcome: 'delivered', status: 201 }]);
  const links = only(steps, 'link');
  expect(links.some(({ by, tab }) => by === tab)).toBe(true);
  expect(links.at(-1)).toMatchObject({ by: '', fails: 0 });
  expect(steps.map(({ step }) => step).filter((step) => step !== 'link')).toEqual([
    'tracked',
    'stored',
    'sent',
    'answered',
  ]);
});

test('the trace reports a failure and the end of the back-off', { tag: '@long' }, async ({ demo, visitor }) => {
  await visitor.visit();
  await visitor.clew('flush');
  await watch(visitor.page);
  await demo.fault({ mode: 'status', status: 503, count: 1 });
  const before = Date.now();
  await visitor.clew('track', 'late');
  await visitor.clew('flush');
  const steps = await stepsOf(visitor.page);
  expect(only(steps, 'answered')[0]).toMatchObject({ outcome: 'failed', status: 503 });
  const waiting = only(steps, 'link').find(({ fails }) => fails === 1);
  expect(waiting).toMatchObject({ by: '' });
  expect(waiting?.until).toBeGreaterThanOrEqual(before);
  await expect.poll(() => demo.events('late')).toHaveLength(1);
});

test('the trace reports the visitor id and a refusal of consent', { tag: '@long' }, async ({ visitor }) => {
  await visitor.visit();
  const visitorId = await visitor.clew('correlationValue');
  await watch(visitor.page);
  await visitor.clew('identify', 'ada@example.com');
  await visitor.clew('consent', false);
  expect(only(await stepsOf(visitor.page), 'visitor')).toEqual([
    { step: 'visitor', visitorId, primaryKey: 'ada@example.com' },
    { step: 'visitor' },
  ]);
});
