// @module-tag promise
import { describe, expect, it } from 'vitest';
import type { Trace } from '../../src/index.ts';
import { start } from './page.ts';

describe('trace', () => {
  it('reports an event from its call to its answer', async () => {
    const { tracker } = start({ baseUrl: '/clew' });
    await tracker.flush();
    const traces: Trace[] = [];
    tracker.on('trace', (trace) => traces.push(trace));
    tracker.track('seen', { plan: 'pro' });
    await tracker.flush();
    const uuids = [expect.any(String)];
    const link = { step: 'link', tab: expect.any(String), by: expect.any(String), fails: 0 };
    expect(traces).toMatchObject([
      { step: 'tracked', event: { event: 'seen', payload: { plan: 'pro' } } },
      { step: 'stored', uuids },
      link,
      { step: 'sent', uuids, path: '/api/events/batch/', bytes: expect.any(Number), gzip: undefined, leaving: false },
      { step: 'answered', uuids, outcome: 'delivered', status: 200 },
      link,
    ]);
    const [tracked, stored, , sent, answered] = traces as [
      Extract<Trace, { step: 'tracked' }>,
      Extract<Trace, { step: 'stored' }>,
      Trace,
      Extract<Trace, { step: 'sent' }>,
      Extract<Trace, { step: 'answered' }>,
    ];
    for (const { uuids } of [stored, sent, answered]) expect(uuids).toEqual([tracked.event.uuid]);
  });

  it('reports visitor id and customer, and neither after a refusal', async () => {
    const { tracker } = start();
    await tracker.flush();
    const visitors: unknown[] = [];
    tracker.on('trace', (trace) => {
      if (trace.step === 'visitor') visitors.push([trace.visitorId, trace.primaryKey]);
    });
    const visitorId = await tracker.correlationValue();
    tracker.identify('ann');
    await tracker.flush();
    tracker.consent(false);
    expect(visitors).toEqual([
      [visitorId, 'ann'],
      [undefined, undefined],
    ]);
  });

  it('reports $identify and the size of gzip', async () => {
    const { tracker, requests } = start({ compress: true });
    await tracker.flush();
    const traces: Trace[] = [];
    tracker.on('trace', (trace) => traces.push(trace));
    tracker.identify('ann');
    await tracker.flush();
    expect(traces.find(({ step }) => step === 'tracked')).toMatchObject({ event: { event: '$identify' } });
    expect(traces.find(({ step }) => step === 'sent')).toMatchObject({ gzip: requests[0]?.body.length });
  });

  it('reports only the name of an event that beforeSend drops', async () => {
    const { tracker } = start({ beforeSend: () => null });
    const traces: Trace[] = [];
    tracker.on('trace', (trace) => traces.push(trace));
    tracker.track('secret', { of: 'somebody' });
    await tracker.flush();
    const tracked = traces.filter(({ step }) => step === 'tracked');
    expect(tracked).toMatchObject([{ event: { event: 'secret' } }]);
    expect(JSON.stringify(tracked)).not.toContain('somebody');
  });
});
