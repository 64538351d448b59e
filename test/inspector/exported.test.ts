import { expect, it } from 'vitest';
import { exported } from '../../src/inspector/exported.ts';
import { newModel } from '../../src/inspector/model.ts';
import { update } from '../../src/inspector/update.ts';

it('the file has all seen events and the number of those no longer kept', () => {
  const model = newModel(0);
  update(model, 1000, 'trace', { step: 'tracked', event: { uuid: 'a', event: 'signup', payload: { plan: 'pro' } } });
  update(model, 1001, 'trace', { step: 'sent', uuids: ['a'], path: '/events/', bytes: 90, leaving: false });
  model.forgotten = 2;
  expect(JSON.parse(JSON.stringify(exported(model, 2000)))).toMatchObject({
    exportedAt: '1970-01-01T00:00:02.000Z',
    openedAt: '1970-01-01T00:00:00.000Z',
    trackedBefore: null,
    stats: { tracked: 1, delivered: 0, queued: 1, dropped: {} },
    visitor: null,
    link: null,
    events: [{ uuid: 'a', name: 'signup', payload: { plan: 'pro' }, trackedAt: 1000, sentAt: 1001, requests: [1] }],
    eventsForgotten: 2,
    requests: [{ number: 1, sentAt: 1001, path: '/events/', size: 1, bytes: 90, leaving: false }],
    requestsForgotten: 0,
    errors: [],
    seconds: [{ at: 1, tracked: 1, queued: 1 }],
  });
});
