import type { PluginTools, Tracker } from '../api/types.js';
import { isObject } from '../wire.js';

/** Events that are due unless the visitor returns to the page. */
interface Draft {
  /** When the visitor has hidden the page, in ms since the epoch. */
  readonly at: number;
  readonly by: string;
  readonly payloads: readonly object[];
}

/** Other pages wait for longer, since the page itself may be a moment late. */
const PATIENCE = 1.1;

/** The longest time (ms) of a timer. With more than 2 ** 31, it would fire at once. */
const LONGEST = 2e9;

/** Any code of the origin may have written it. */
const isDraft = (value: unknown): value is Draft =>
  isObject(value) && Number.isFinite(value.at) && Array.isArray(value.payloads) && value.payloads.every(isObject);

/**
 * Keeps what is due if a hidden page ends unseen: a phone ends hidden pages without an event. The storage obeys consent.
 *
 * @param plugin the plugin's name
 * @param event the name of the event that is due
 * @param after how long (ms) the visitor may be away
 */
export const createDrafts = (tools: PluginTools, plugin: string, event: string, after: number) => {
  const { service, local, visitorId, preview } = tools;
  const key = `${plugin} ${service}`;
  const own = Array.from(crypto.getRandomValues(new Uint32Array(2)), (part) => part.toString(36)).join('');
  /** The visitor id of the page's own draft, if there is one. */
  let keptBy: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const all = (): Record<string, unknown> => ({ ...Object(local.get(key)) });
  const write = (drafts: Record<string, unknown>) =>
    local.set(key, Object.keys(drafts)[0] === undefined ? undefined : drafts);
  const remove = (name: string): boolean => {
    const { [name]: found, ...rest } = all();
    return !!found && write(rest);
  };
  /** Takes what pages have left that ended unseen, as far as it is this visitor's. */
  const takeOthers = (visitor: string): Draft[] => {
    const drafts = Object.entries(all()).filter(
      (entry): entry is [string, Draft] =>
        entry[0] !== own && isDraft(entry[1]) && Math.abs(Date.now() - entry[1].at) >= after * PATIENCE,
    );
    // The draft of an earlier visitor id is dropped.
    return drafts.flatMap(([name, draft]) => (remove(name) && draft.by === visitor ? draft : []));
  };
  return {
    /**
     * The visitor has hidden the page. Secrets that `beforeSend` removes, such as those of an address, are not stored.
     *
     * @param leave is called if the visitor stays away for too long
     */
    keep(due: readonly object[], leave: () => void): void {
      timer = setTimeout(leave, Math.min(after, LONGEST));
      const by = visitorId();
      const payloads = due.map((payload) => preview(event, payload)).filter((payload) => payload !== undefined);
      const isKept = by && payloads[0] && write({ ...all(), [own]: { at: Date.now(), by, payloads } satisfies Draft });
      keptBy = isKept ? by : undefined;
    },
    /**
     * Takes the page's own draft back. Returns whether it is the page's and the visitor's still. Another page may have tracked it, or a
     * refusal may have erased it.
     */
    takeBack(): boolean {
      clearTimeout(timer);
      const by = keptBy;
      keptBy = undefined;
      return !by || (remove(own) && by === visitorId());
    },
    takeOthers,
    /** Tracks what other pages have left, once the visitor is known. */
    trackOthers({ correlationValue, track }: Tracker, { signal }: AbortController): void {
      const trackAll = (visitor: string) => {
        if (signal.aborted) return;
        for (const { at, payloads } of takeOthers(visitor))
          for (const payload of payloads) track(event, { ...payload, endedAt: new Date(at).toISOString() });
      };
      // `correlationValue()` rejects after a refusal, which erases the drafts.
      correlationValue().then(trackAll, () => {});
    },
  };
};
