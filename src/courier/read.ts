import { MOST_SETTLED } from '../outbox/farewell.js';
import type { Queue } from '../outbox/queue.js';
import type { Row } from '../outbox/store.js';
import { type ItemText, idOf, isItem } from '../recorder/event.js';
import { type Desk, enter, isLate, type Known, type Pass, type Settling } from './desk.js';
import { type Link, linkNameOf, newLink, release } from './lease.js';
import type { CourierPorts } from './ports.js';
import { allIn, leftIn } from './rows.js';
import { isDue, withEnd } from './scope.js';

/** Separates unsent items from settled items and from foreign data. */
export const isLeftFor =
  ({ settled }: Known) =>
  (text: unknown): text is ItemText =>
    isItem(text) && !settled.has(idOf(text));

/** The store may refuse writes, or have been cleared: then memory has more than the store. */
export const orMemory = (queue: Queue, rows: readonly Row[]): readonly Row[] => (rows[0] ? rows : queue.rows());

/** The stored link, to be changed. A lease is void if its page has left. A record by foreign code may be anything. */
export const copyOf = (ports: CourierPorts, old: Link | undefined): Link => {
  const { until, fails, okAt, asked = 0 } = Object(old) as Link;
  // Other code of the origin can write anything into the store.
  const isLink = [until, fails, okAt, asked].every((one) => Number.isFinite(one) && one >= 0);
  const link = isLink ? { ...(old as Link) } : newLink();
  if (ports.farewell.hasLeft(link.by)) release(link, link.by);
  return link;
};

/**
 * One transaction, which writes the result of the last answer, takes or renews the lease, and reads the next rows. Resolves to the
 * rows, or to undefined when the pass is over.
 */
export const read = async (desk: Desk, pass: Pass, settling: Settling): Promise<readonly Row[] | undefined> => {
  const { ports, known, bisection } = desk;
  const { store, queue, service, limits, receipts } = ports;
  const { change, writes, taken = [] } = settling;
  const { holder } = pass.entered;
  enter(desk, pass, 'read', settling);
  // A few more than a batch: some may be settled already, and some wait for a token or for the relay's answer.
  const most = bisection.passed + limits.maxBatchEvents + 10 + desk.waiting + (receipts?.held().size ?? 0);
  pass.found = { link: desk.link, rows: [], remaining: 0 };
  const query = (old: Link | undefined) => {
    const link = copyOf(ports, old);
    change(link, holder, Date.now());
    pass.found = { link, rows: [], remaining: 0 };
    return link.by === holder ? ([service, most] as const) : undefined;
  };
  const update = (_old: Link | undefined, rows: readonly Row[]) => {
    const { link } = pass.found;
    const isHolder = link.by === holder;
    const isEnd = allIn(rows).length < most;
    const stored = leftIn(rows, isLeftFor(known));
    const left = orMemory(queue, stored);
    if (isEnd) pass.scope = withEnd(pass.scope, left);
    // Rows of foreign data hold no events, and are deleted.
    if (!isDue(pass.scope, left) && (left[0] || !rows[0])) release(link, holder);
    pass.found = { link, rows, all: isHolder && isEnd ? stored : undefined, remaining: allIn(left).length };
    if (isLate(desk, pass)) return link;
    desk.link = link;
    enter(desk, pass, 'commit');
    return link;
  };
  const updateSeen = (...found: Parameters<typeof update>) => {
    const link = update(...found);
    const { all } = pass.found;
    if (all && !isLate(desk, pass)) {
      // At once, because rows that are stored later were not in this read.
      queue.saw(all);
      // Only here: a page without a database cannot know whether rows are left.
      pass.found = { ...pass.found, ended: ports.books?.ended() };
    }
    return link;
  };
  const written = await store.transact(writes, linkNameOf(service), updateSeen, query);
  if (isLate(desk, pass)) return;
  // Without writes, the courier uses the events of this page. A full disk can be read, but no tab can take the lease or delete rows
  // there. So several tabs may send the same events, and only a relay drops the duplicates.
  if (!written) {
    const asked = query(desk.link) && receipts;
    const rows = asked ? await store.read(service, most + known.settled.size) : [];
    if (isLate(desk, pass)) return;
    update(desk.link, rows);
  }
  const { rows, all } = pass.found;
  const stored = new Set(allIn(rows).filter(isItem).map(idOf));
  // A page may have stored the events since, from a journal, and left, or their rows lie behind a backlog: other pages ask again.
  receipts?.drop(taken.filter(({ ids }) => all && !ids.some((id) => stored.has(id))));
  ports.onLink(desk.link, holder);
  // Only these may still have a row, perhaps behind a backlog. Without storage, no page ever sees that a row is deleted.
  const { settled } = known;
  const latest = written && all ? [] : [...settled].slice(-MOST_SETTLED);
  const kept = new Set([...stored, ...latest]);
  for (const id of settled) if (!kept.has(id)) settled.delete(id);
  if (writes[0] && !written) release(desk.link, holder);
  return desk.link.by === holder ? rows : undefined;
};
