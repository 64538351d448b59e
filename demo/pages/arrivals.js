// @ts-check

/**
 * Collects every event that arrives while this page is open, once each. The service lists only its newest events, so the page
 * requests more of them until the list has an event that it knows. The first list has to have all sought events.
 *
 * @typedef {import('../collector/listings.ts').ListedEvent} ListedEvent
 * @param {(limit: number) => Promise<ListedEvent[]>} list the newest events, oldest first
 * @param {number} few how many events the first request asks for
 * @param {string[]} [sought] uuids of events that may have arrived before this page was opened
 */
export const createArrivals = (list, few, sought = []) => {
  /** @type {Map<string, ListedEvent> | undefined} */
  let known;
  /** @type {Map<string, number>} */
  const perVisitor = new Map();

  /** @param {ListedEvent[]} events */
  const isEnough = (events) => {
    if (known) return events.some(({ uuid }) => known?.has(uuid));
    const uuids = new Set(events.map(({ uuid }) => uuid));
    return sought.every((uuid) => uuids.has(uuid));
  };

  const read = async () => {
    for (let limit = few; ; limit *= 4) {
      const events = await list(limit);
      if (events.length < limit || isEnough(events)) return events;
    }
  };

  return {
    /** Adds the new events, and returns the newest ones. */
    async update() {
      const events = await read();
      const isFirst = !known;
      known ??= new Map();
      for (const event of events) {
        const isNew = !known.has(event.uuid);
        // Also a known event, because its customer may have a name now.
        known.set(event.uuid, event);
        if (isNew && !isFirst)
          perVisitor.set(event.correlationValue, (perVisitor.get(event.correlationValue) ?? 0) + 1);
      }
      return events.slice(-few);
    },
    /** @param {string} uuid */
    find: (uuid) => known?.get(uuid),
    /** @param {(event: ListedEvent) => boolean} isMeant */
    filter: (isMeant) => [...(known?.values() ?? [])].filter(isMeant),
    /** How many have arrived with these visitor ids. @param {Iterable<string>} ids */
    count: (ids) => [...ids].reduce((sum, each) => sum + (perVisitor.get(each) ?? 0), 0),
  };
};
