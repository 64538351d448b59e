// @ts-check

/**
 * The sums of a visitor over all of their pages. The statistics of two pages may both count an event: the page that tracked it,
 * and the page that sent it later. These sums count each uuid once.
 *
 * @typedef {import('../../src/api/signals.ts').Trace} Trace
 * @typedef {import('../../src/api/types.ts').Stats} Stats
 */

const UPSERT = /upsert/;

export const createSums = () => {
  /** Names by uuid. @type {Map<string, string>} */
  const tracked = new Map();
  const delivered = new Set();
  /** Reasons by uuid. @type {Map<string, string>} */
  const dropped = new Map();

  return {
    /** @param {Trace} trace */
    receive(trace) {
      if (trace.step === 'tracked') tracked.set(trace.event.uuid ?? '', trace.event.event ?? '');
      // An event that was tracked before this page listened first appears when it is sent, without its name.
      if (trace.step === 'sent' && !UPSERT.test(trace.path))
        for (const uuid of trace.uuids) if (!tracked.has(uuid)) tracked.set(uuid, '');
      if (trace.step !== 'answered' || trace.outcome !== 'delivered') return;
      for (const uuid of trace.uuids) if (tracked.has(uuid) && !dropped.has(uuid)) delivered.add(uuid);
    },
    /** Another tab may have sent them: then this page has no step `answered`. @param {{ uuid?: string, event?: string }[]} events */
    deliver(events) {
      for (const { uuid = '', event = '' } of events) {
        tracked.set(uuid, event);
        if (!dropped.has(uuid)) delivered.add(uuid);
      }
    },
    /** @param {{ uuid?: string, event?: string }[]} events @param {string} reason */
    drop(events, reason) {
      for (const { uuid = '', event = '' } of events) {
        tracked.set(uuid, event);
        delivered.delete(uuid);
        dropped.set(uuid, reason);
      }
    },
    /** @param {string} uuid */
    nameOf: (uuid) => tracked.get(uuid),
    /** The events that have not reached their end. */
    queued: () =>
      Array.from(tracked, ([uuid, event]) => ({ uuid, event })).filter(
        ({ uuid }) => !delivered.has(uuid) && !dropped.has(uuid),
      ),
    /** @returns {Stats} */
    stats() {
      /** @type {Record<string, number>} */
      const byReason = {};
      for (const reason of dropped.values()) byReason[reason] = (byReason[reason] ?? 0) + 1;
      const queued = tracked.size - delivered.size - dropped.size;
      return { tracked: tracked.size, delivered: delivered.size, queued, dropped: byReason };
    },
  };
};
