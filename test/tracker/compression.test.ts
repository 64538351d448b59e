// @module-tag promise
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import type { TransportRequest } from '../../src/index.ts';
import { holdCompression, openPage, settle, start } from './page.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));

/** How long (ms) a tab has the lease before another tab can take it. */
const LEASE = 22_000;

describe('a compressed request', () => {
  it('is gzip, and names gzip in a header', async () => {
    const { tracker, requests, names } = start({ compress: true });
    tracker.track('seen');
    await tracker.flush();
    expect(names()).toEqual(['seen']);
    expect(requests).toMatchObject([{ headers: { 'Content-Encoding': 'gzip' } }]);
    const [request] = requests as [TransportRequest];
    expect(gunzipSync(request.body as Uint8Array).toString()).toContain('"seen"');
  });

  it.each([
    ['is missing', undefined],
    [
      'throws',
      class {
        constructor() {
          throw new Error('no gzip');
        }
      },
    ],
  ])('is sent uncompressed if CompressionStream %s', async (_what, CompressionStream) => {
    vi.stubGlobal('CompressionStream', CompressionStream);
    const { tracker, requests, names, errors } = start({ compress: true });
    tracker.track('seen');
    await tracker.flush();
    expect(names()).toEqual(['seen']);
    expect(requests).toHaveLength(1);
    expect(requests[0]?.headers).not.toHaveProperty('Content-Encoding');
    expect(errors).toEqual([]);
  });
});

describe('while a batch is compressed', () => {
  const startHeld = async () => {
    const page = openPage();
    const release = holdCompression();
    const test = start({ baseUrl: '/clew', compress: true });
    test.tracker.track('seen');
    const flushed = test.tracker.flush();
    await settle();
    expect(test.requests).toEqual([]);
    return { ...test, page, release, flushed };
  };

  it('a page that unloads hands the batch over and does not send it afterwards', async () => {
    const { page, release, requests, names } = await startHeld();
    page.leave();
    expect(requests.map(({ leaving }) => leaving)).toEqual([true]);
    release();
    // Streams of Node need the event loop, which fake timers leave alone.
    for (let i = 0; i < 50; i++) await settle();
    expect(requests).toHaveLength(1);
    expect(names()).toEqual(['seen']);
  });

  it('no request is sent after another tab has taken the expired lease', async () => {
    const { tracker, store, release, flushed, requests, names } = await startHeld();
    vi.setSystemTime(Date.now() + LEASE + 1);
    await store.transact([['link /clew', { by: 'another tab', until: Date.now() + LEASE, fails: 0, okAt: 0 }]]);
    release();
    await flushed;
    expect(requests).toEqual([]);
    expect(tracker.stats()).toMatchObject({ delivered: 0, queued: 1 });
    vi.setSystemTime(Date.now() + LEASE + 1);
    await tracker.flush();
    expect(names()).toEqual(['seen']);
    expect(requests).toHaveLength(1);
  });
});
