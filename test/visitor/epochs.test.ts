// @module-tag promise
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createEpochs } from '../../src/visitor/epochs.ts';

const SERVICE = '/clew';
const USED = `clew.used ${SERVICE}`;
const NOW = 1_770_000_000_000;

beforeEach(() => {
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
  vi.stubGlobal('localStorage', {});
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const markOf = (): unknown => JSON.parse(localStorage[USED] ?? 'null');
const setMark = (mark: string | number | undefined) => {
  if (mark === undefined) delete localStorage[USED];
  else localStorage[USED] = JSON.stringify(mark);
};
/** A page that has begun as localStorage had this mark. */
const begin = (mark?: string | number) => {
  setMark(mark);
  const epochs = createEpochs(SERVICE);
  epochs.begin();
  epochs.mark();
  return epochs;
};

describe('the epoch of a page', () => {
  it('is that of localStorage until the database has answered', () => {
    const epochs = begin('one');
    expect([epochs.current(), epochs.stored(), epochs.marked()]).toEqual(['one', undefined, 'one']);
    epochs.confirm('two', true);
    expect([epochs.current(), epochs.stored()]).toEqual(['two', 'two']);
  });

  it('is known after a refusal as soon as the page has begun it, before the database has answered', () => {
    const epochs = begin('one');
    epochs.end({ at: NOW, isOwn: true });
    setMark(undefined);
    epochs.begin();
    epochs.mark();
    const own = `${markOf()}`;
    expect([own, epochs.isOver()]).toEqual([epochs.current(), false]);
    setMark(`1770000000000123!${own.split('!')[0]}`);
    expect([epochs.isOver(), epochs.isMarkErased(true), epochs.isRenewed()]).toEqual([true, true, true]);
  });

  it('stays its own after the back/forward cache, although localStorage has another one since', () => {
    const epochs = begin('one');
    setMark('two');
    epochs.begin();
    expect([epochs.current(), epochs.isOver()]).toEqual(['one', true]);
  });

  it('is not known by a mark that other code has written', () => {
    const epochs = begin();
    for (const text of ['nonsense', '7', '{}', '[]', 'true']) {
      localStorage[USED] = text;
      epochs.begin();
      expect([text, epochs.current(), epochs.marked()]).toEqual([text, undefined, undefined]);
    }
  });
});

describe('the mark in localStorage', () => {
  it('is written at once, and has the epoch as soon as the database has answered', () => {
    const epochs = begin();
    const before = markOf();
    epochs.confirm('one', true);
    expect([before, markOf()]).toEqual([expect.any(Number), 'one']);
    expect(before).toBeGreaterThan(1);
  });

  it('shows another epoch if the service begins after a refusal', () => {
    const epochs = begin('one');
    epochs.end({ at: NOW });
    setMark(undefined);
    epochs.begin();
    epochs.mark();
    expect(markOf()).toMatch(/^\d{16}!one$/);
    expect(epochs.next()).toBe(markOf());
    epochs.confirm('two', true);
    expect(markOf()).toBe('two');
  });

  it('is a guess no more after a refusal of which the page has only seen signs', () => {
    const epochs = begin('one');
    epochs.end();
    setMark(undefined);
    epochs.begin();
    epochs.mark();
    expect(markOf()).toMatch(/^\d{16}$/);
  });

  it.each<[string, string | number | undefined, string | number | undefined, unknown]>([
    ['the same', 'one', 'one', 'stored'],
    ['the mark of an earlier version', 'one', 1, 'stored'],
    ['the mark of a tracker that does not know it yet', 'one', 1234, 'stored'],
    ['none', 'one', undefined, 'stored'],
    ['a later one', 'one', 'two', 'two'],
    ['a later one, but the page has begun without one', undefined, 'two', 'stored'],
  ])('is corrected by the record, unless it is newer than the page: %s', (_what, before, now, expected) => {
    const epochs = begin(before);
    setMark(now);
    epochs.confirm('stored', true);
    expect(markOf()).toBe(expected);
  });

  it.each<[string, string | undefined, string | undefined]>([
    ['is not written again if it was erased meanwhile', undefined, undefined],
    ['is corrected if it is there', 'one', 'stored'],
  ])('by a page without messages from other tabs %s', (_what, now, expected) => {
    const epochs = begin('one');
    setMark(now);
    epochs.confirm('stored', false);
    expect([epochs.stored(), markOf() ?? undefined]).toEqual(['stored', expected]);
  });

  it('is not replaced by a page that has begun later', () => {
    begin('one').mark();
    expect(markOf()).toBe('one');
  });
});

describe('an epoch is over', () => {
  it.each<[string, string | number | undefined, boolean]>([
    ['the same epoch', 'one', false],
    ['another epoch', 'two', true],
    ['a tracker that does not know the epoch yet', 1234, false],
    ['a tracker of an earlier version, too', 1, false],
    ['nothing', undefined, false],
  ])('if localStorage has another one since: %s', (_what, mark, expected) => {
    const epochs = begin('one');
    setMark(mark);
    expect(epochs.isOver()).toBe(expected);
    expect(begin(mark).isOver()).toBe(false);
  });
});

describe('a refusal by another page', () => {
  it('shows in a mark that is missing or another one, if this page has seen one', () => {
    const epochs = begin('one');
    const seen = [true, false].map(epochs.isMarkErased);
    setMark(undefined);
    const missing = [true, false].map(epochs.isMarkErased);
    setMark('two');
    const other = [true, false].map(epochs.isMarkErased);
    setMark(1234);
    const guessed = [true, false].map(epochs.isMarkErased);
    expect([seen, missing, other, guessed]).toEqual([
      [false, false],
      [true, false],
      [true, true],
      [false, false],
    ]);
    // A page whose mark is the record's epoch finds a guess only if another page has erased that.
    epochs.confirm('one', true);
    setMark(1234);
    expect([true, false].map(epochs.isMarkErased)).toEqual([true, true]);
    // The record has the number of the guess, and localStorage may have had no room for its text.
    epochs.confirm('1234', true);
    setMark(1234);
    expect([true, false].map(epochs.isMarkErased)).toEqual([false, false]);
  });

  it('does not show where a missing mark cannot be written', () => {
    const epochs = begin('one');
    const storage: Record<string, string> = {};
    let isFull = true;
    const refuse = (_: object, key: string, value: string) => {
      if (isFull) throw new DOMException('over quota', 'QuotaExceededError');
      storage[key] = value;
      return true;
    };
    vi.stubGlobal('localStorage', new Proxy(storage, { set: refuse }));
    const full = epochs.isMarkErased(true);
    isFull = false;
    expect([full, epochs.isMarkErased(true), storage]).toEqual([false, true, {}]);
  });
});

describe('the epoch of a record that has none', () => {
  it('is that of localStorage, before that of the page', () => {
    const epochs = begin('one');
    expect(epochs.next()).toBe('one');
    setMark('two');
    expect(epochs.next()).toBe('two');
    setMark(undefined);
    expect(epochs.next()).toBe('one');
  });

  it('is the same for all pages that have begun since the mark was written', () => {
    const first = begin();
    const mark = Number(markOf());
    const second = begin(mark);
    expect([first, second].map((epochs) => [epochs.next(), epochs.latest()])).toEqual([
      [`${mark}`, `${mark}`],
      [`${mark}`, `${mark}`],
    ]);
  });

  it('is a new one where no page knows any, and after a refusal', () => {
    const epochs = begin(1);
    const first = epochs.next();
    expect(first).toMatch(/^\d{16}$/);
    expect(epochs.next()).not.toBe(first);
    epochs.confirm('one', true);
    epochs.end({});
    // A tab that does not know of the refusal yet has written its mark.
    setMark('one');
    epochs.begin();
    expect(epochs.next()).toMatch(/^\d{16}!one$/);
  });

  it('names the latest three epochs that the visitor has ended, as far as the page has the answer', () => {
    const epochs = begin();
    for (const ended of ['one', 'two', 'three!two', 'four']) epochs.end({ ended });
    setMark(undefined);
    expect(epochs.next()).toMatch(/^\d{16}!four!three!two$/);
    expect(['one', 'two', 'three!two', 'four'].map(epochs.isEnded)).toEqual([false, true, true, true]);
    const other = begin('five');
    other.end({ ended: 'four' });
    other.confirm('five', true);
    other.end();
    // All pages of its epoch know the refusal before.
    expect([other.next(), other.isEnded('five')]).toEqual([expect.stringMatching(/^\d{16}$/), true]);
    // The message arrives after its signs.
    other.end({ ended: 'five' });
    expect(other.next()).toMatch(/^\d{16}!five$/);
  });
});

describe('the record or another tab', () => {
  it.each<[string, string | undefined, boolean]>([
    ['the same epoch', 'one', false],
    ['another epoch', 'two', true],
    ['none', undefined, false],
  ])('is of another epoch than the page: %s', (_what, found, expected) => {
    const epochs = begin('one');
    expect(epochs.isOther(found)).toBe(false);
    epochs.confirm('one', true);
    expect([epochs.isOther(found), epochs.isUnlike(found)]).toEqual([expected, expected]);
    if (!expected || !found) return;
    epochs.follow(found);
    expect([epochs.isOther(found), epochs.current()]).toEqual([false, found]);
  });

  it('is of the epoch in localStorage if the record has none', () => {
    const epochs = begin('one');
    epochs.confirm('one!zero', true);
    setMark('one!zero');
    expect([epochs.isOther(undefined), epochs.isRenewed(undefined)]).toEqual([false, false]);
    setMark('two!one');
    expect([epochs.isOther(undefined), epochs.isRenewed(undefined)]).toEqual([true, true]);
  });

  it.each<[string, boolean]>([
    ['three!one', true],
    ['three!two!one!zero', true],
    ['three!two', true],
    ['three!zero', false],
    ['three', false],
    ['one', false],
  ])('has begun after a refusal in the epoch of the page: %s', (found, expected) => {
    const epochs = begin();
    expect(epochs.isRenewed(found)).toBe(false);
    epochs.confirm('one!zero', true);
    expect(epochs.isRenewed(found)).toBe(expected);
    setMark(found);
    expect(epochs.isRefused()).toBe(expected);
    // A page that loads looks for its own mark, and only if there is no record: a crash may have brought back its mark.
    const loading = begin('one!zero');
    setMark(found);
    const isNamed = found.includes('!one');
    expect([loading.isRenewed(), loading.isRenewed(found), loading.isRefused()]).toEqual([isNamed, false, false]);
  });

  it('is compared with localStorage before the database has answered', () => {
    const unlike = (mark?: string | number) => begin(mark).isUnlike('one');
    expect([unlike('one'), unlike('two'), unlike(1234), unlike(), unlike(1)]).toEqual([
      false,
      true,
      false,
      false,
      false,
    ]);
  });
});

describe('a mark that a crash of the browser has brought back', () => {
  it.each<[string, string | number | undefined, boolean]>([
    ['another epoch', 'before', true],
    ['the same epoch', 'one', false],
    ['a guess', 1234, false],
    ['no mark', undefined, false],
  ])('differs from the record at page load: %s', (_what, mark, expected) => {
    const epochs = begin(mark);
    expect(epochs.isOutdated('one')).toBe(expected);
    epochs.confirm('two', true);
    expect(epochs.isOutdated('one')).toBe(false);
  });

  it('is replaced once by the epoch of the record', () => {
    const [first, second] = [begin('before'), begin('before')];
    expect([first.correct('one'), markOf(), first.current()]).toEqual([true, 'one', 'one']);
    expect([second.correct('one'), markOf(), second.current()]).toEqual([false, 'one', 'one']);
  });
});

describe('a refusal', () => {
  it('ends the epoch of the page, or a named epoch', () => {
    const epochs = begin('one');
    epochs.end();
    expect(['one', 'two', undefined].map(epochs.isEnded)).toEqual([true, false, false]);
    // A second refusal, as of a message that comes late, names none.
    epochs.end({});
    expect(epochs.isEnded('one')).toBe(true);
    epochs.end({ ended: 'two' });
    expect(['one', 'two'].map(epochs.isEnded)).toEqual([true, true]);
  });

  it('has ended the guess of a page if the mark names it, not by the record alone', () => {
    const epochs = begin(1234);
    expect([epochs.isRenewed('b!1234'), epochs.isMarkErased(true)]).toEqual([false, false]);
    setMark('b!1234');
    expect([epochs.isRenewed('b!1234'), epochs.isRenewed(), epochs.isMarkErased(true)]).toEqual([true, true, true]);
    epochs.end();
    epochs.begin();
    epochs.mark();
    expect([epochs.isRenewed('b!1234'), epochs.isMarkErased(true)]).toEqual([false, false]);
  });

  it.each<[string, string | number, boolean]>([
    ['a later consent, which names no refusal', `${NOW + 101}000`, true],
    ['a later guess', Number(`${NOW + 101}000`), true],
    ['the epoch of a tab in which the visitor has consented at the same moment', `${NOW + 100}000`, false],
    ['the guess of such a tab', Number(`${NOW + 100}000`), false],
    ['the guess itself, once it is stored', `${NOW}000`, false],
    ['an earlier consent, because the site has deleted its localStorage', `${NOW - 1}000`, false],
  ])('has ended the guess of a page, or not, if the mark is %s', (_what, mark, isEnded) => {
    const epochs = begin(Number(`${NOW}000`));
    vi.setSystemTime(NOW + 1000);
    setMark(mark);
    expect([epochs.isRenewed(), epochs.isMarkErased(true)]).toEqual([isEnded, isEnded]);
  });

  it('ends the epochs that the epoch of the page names', () => {
    const epochs = begin('c!b!a');
    expect(['a', 'b', 'b!a', 'c!b!a', 'd', undefined].map(epochs.isEnded)).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it('is not named after a return from the back/forward cache, because other pages may have begun since', () => {
    const epochs = begin('one');
    epochs.end({ at: NOW });
    setMark(undefined);
    epochs.restore();
    expect([epochs.next(), epochs.isEnded('one')]).toEqual([expect.stringMatching(/^\d{16}$/), true]);
  });

  it('is not undone by a transaction from before', () => {
    const epochs = begin('one');
    epochs.end({});
    setMark(undefined);
    epochs.begin();
    epochs.confirm('one', true);
    expect([epochs.current(), markOf()]).toEqual([undefined, null]);
  });

  it('leaves the page without an epoch', () => {
    const epochs = begin('one');
    epochs.confirm('one', true);
    epochs.end();
    expect([epochs.current(), epochs.isOver()]).toEqual([undefined, false]);
  });

  it('is known by its time until the page begins again', () => {
    const epochs = begin('one');
    epochs.end({ at: NOW, isOwn: true });
    epochs.end({ at: NOW + 1 });
    epochs.end();
    expect([NOW + 1, NOW + 2, undefined].map(epochs.isRefusedSince)).toEqual([true, false, false]);
    epochs.begin();
    expect(epochs.isRefusedSince(NOW - 1)).toBe(false);
  });
});

describe('a page has begun after a time', () => {
  it('if the visitor had consented before, as the mark shows', () => {
    const since = (mark?: string) => {
      setMark(mark);
      const epochs = createEpochs(SERVICE);
      epochs.begin();
      return [NOW - 1, NOW, undefined].map(epochs.isSince);
    };
    expect([since('one'), since()]).toEqual([
      [true, false, false],
      [false, false, false],
    ]);
  });

  it('does not count after a refusal has erased the mark', () => {
    const epochs = begin('one');
    setMark(undefined);
    expect(epochs.isSince(NOW - 1)).toBe(false);
  });
});

it('storage that is refused has no mark, and throws no error', () => {
  vi.unstubAllGlobals();
  const epochs = createEpochs(SERVICE);
  epochs.begin();
  epochs.mark();
  epochs.confirm('one', true);
  expect([epochs.marked(), epochs.isMarkErased(true), epochs.current()]).toEqual([undefined, false, 'one']);
});

describe('a consent', () => {
  it('that another tab passes gives an epoch its time', () => {
    const first = createEpochs(SERVICE);
    first.consent(NOW - 10);
    first.begin();
    first.mark();
    expect(markOf()).toSatisfy((mark) => String(mark).startsWith(`${NOW - 10}`) && typeof mark === 'number');
    const second = createEpochs(SERVICE);
    second.begin();
    expect([second.isSince(NOW - 5), second.isSince(NOW - 15)]).toEqual([false, true]);
  });

  it.each([
    ['counts as earlier than a refusal of its epoch, whose tab may not know of it', undefined, false],
    ['counts as later if a tab has begun again since the refusal', '1770000070000123!one', true],
  ])('in the future %s', (_what, mark, isLater) => {
    const epochs = begin('one');
    epochs.consent(NOW + 60_000);
    setMark(mark);
    epochs.end({ ended: 'one', at: NOW + 50_000 });
    expect(epochs.isConsentedSince(NOW + 50_000)).toBe(isLater);
  });

  it('counts until a later refusal, and an earlier one changes nothing', () => {
    const epochs = createEpochs(SERVICE);
    const isConsented = () => [NOW - 1, NOW, undefined].map(epochs.isConsentedSince);
    epochs.consent(NOW);
    epochs.consent(NOW - 5);
    epochs.consent();
    expect(isConsented()).toEqual([true, false, false]);
    epochs.begin();
    epochs.end({ ended: 'one', at: NOW - 1 });
    expect(isConsented()).toEqual([true, false, false]);
    epochs.end({ ended: 'one', at: NOW });
    expect(isConsented()).toEqual([false, false, false]);
    epochs.consent(NOW);
    epochs.end();
    expect(isConsented()).toEqual([false, false, false]);
  });

  it('without a time, by an earlier version, counts from the time at which a later page begins', () => {
    setMark('one');
    const epochs = createEpochs(SERVICE);
    epochs.begin();
    expect([NOW - 1, NOW].map(epochs.isSince)).toEqual([true, false]);
  });

  it('is later than each answer that the page knows of, whatever the clock shows', () => {
    const epochs = createEpochs(SERVICE);
    setMark(`${NOW + 9}123!1`);
    const first = epochs.answerAt();
    epochs.consent(first);
    const second = epochs.answerAt();
    epochs.end({ at: second, isOwn: true });
    epochs.end({ at: NOW });
    setMark(undefined);
    vi.setSystemTime(NOW - 60_000);
    expect([first, second, epochs.answerAt()]).toEqual([NOW + 10, NOW + 11, NOW + 12]);
    vi.setSystemTime(NOW + 50);
    expect(epochs.answerAt()).toBe(NOW + 50);
  });
});
