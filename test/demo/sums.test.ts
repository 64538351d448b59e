import { describe, expect, it } from 'vitest';
import { createSums } from '../../demo/pages/sums.js';

const event = (uuid: string) => ({ uuid, event: `event ${uuid}` });

describe('the sums of a visitor', () => {
  it('count an event that another tab has sent as delivered, once', () => {
    const sums = createSums();
    for (const uuid of ['a', 'b']) sums.receive({ step: 'tracked', event: event(uuid) });
    sums.deliver([event('a')]);
    sums.deliver([event('a')]);
    expect(sums.stats()).toEqual({ tracked: 2, delivered: 1, queued: 1, dropped: {} });
  });

  it('count a dropped event as dropped, also if it was delivered', () => {
    const sums = createSums();
    sums.deliver([event('a')]);
    sums.drop([event('a')], 'rejected');
    sums.deliver([event('a')]);
    expect(sums.stats()).toEqual({ tracked: 1, delivered: 0, queued: 0, dropped: { rejected: 1 } });
  });
});
