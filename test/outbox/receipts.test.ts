// @module-tag promise
import { describe, expect, it } from 'vitest';
import { createReceipts } from '../../src/outbox/receipts.ts';

describe('receipts', () => {
  it('keep no request without events: questions that a page could not read would take the room of handovers', () => {
    const local: Record<string, string> = {};
    const receipts = createReceipts('/clew', local);
    for (let n = 0; n < 60; n++) receipts.write({ id: receipts.makeId(), ids: [] });
    expect(local).toEqual({});
    const id = receipts.makeId();
    receipts.write({ id, ids: ['an event'] });
    expect(receipts.open()).toMatchObject([{ id, ids: ['an event'] }]);
  });

  it('keep the first fifty, whatever else is stored under such keys', () => {
    const rubbish = Array.from({ length: 60 }, (_, n) => [`clew.handed /clew ${n}`, '{"ids":5}']);
    const local: Record<string, string> = Object.fromEntries(rubbish);
    const receipts = createReceipts('/clew', local);
    const ids = Array.from({ length: 51 }, () => receipts.makeId());
    for (const id of ids) receipts.write({ id, ids: [id] });
    expect(receipts.held()).toEqual(new Set(ids.slice(0, 50)));
  });

  it('add to what was kept of the same request, also where there is no room for another one', () => {
    const receipts = createReceipts('/clew', {});
    const ids = Array.from({ length: 50 }, () => receipts.makeId());
    for (const id of ids) receipts.write({ id, ids: [id], isUpsert: true });
    receipts.write({ id: ids[0] ?? '', ids: ['an event'] });
    expect(receipts.open().find(({ id }) => id === ids[0])).toMatchObject({ ids: ['an event'], isUpsert: true });
  });

  it('hold back an armed request in later pages only: the browser sends it when its page ends', () => {
    const local: Record<string, string> = {};
    const receipts = createReceipts('/clew', local);
    expect(receipts.open()).toEqual([]);
    const id = receipts.makeId();
    receipts.write({ id, ids: ['an event'], isArmed: true });
    expect([receipts.open(), receipts.held()]).toEqual([[], new Set()]);
    const later = createReceipts('/clew', local);
    expect(later.open()).toMatchObject([{ id, ids: ['an event'] }]);
    expect(later.held()).toEqual(new Set(['an event']));
  });

  it('hold back nothing of a dropped request whose entry localStorage refuses to delete', () => {
    const local: Record<string, string> = new Proxy(
      {},
      {
        deleteProperty() {
          throw new Error('SecurityError');
        },
      },
    );
    const receipts = createReceipts('/clew', local);
    const [dropped, other] = [receipts.makeId(), receipts.makeId()];
    receipts.write({ id: dropped, ids: ['an event'] });
    receipts.write({ id: other, ids: ['another event'] });
    receipts.drop([{ id: dropped }]);
    expect(Object.keys(local)).toHaveLength(2);
    expect(receipts.held()).toEqual(new Set(['another event']));
  });
});
