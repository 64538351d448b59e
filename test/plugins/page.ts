import { vi } from 'vitest';

/** A page as far as plugins read it. The page's clock stands still unless `pass` moves it. */
export interface FakePage {
  /** Moves the clock on by so many ms. */
  pass(ms: number): void;
  fire(type: string, more?: object): void;
  look(isVisible: boolean, hasFocus: boolean): void;
  /** A router changes the address. */
  push(path: string, kind?: 'push' | 'replace'): void;
  /** Scrolls the document to so many px. */
  scroll(top: number): void;
  readonly scrolling: { scrollTop: number; clientHeight: number; scrollHeight: number };
}

/**
 * Stands in for the globals of a browser's page, until `vi.unstubAllGlobals()` and `vi.useRealTimers()`.
 *
 * @param tab the sessionStorage of its tab
 * @param referrer the page that has led to it
 */
export const openPage = (path = '/', tab: object = {}, referrer = ''): FakePage => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
  const window = Object.assign(new EventTarget(), {
    navigation: Object.assign(new EventTarget(), { currentEntry: {} }),
  });
  const scrolling = { scrollTop: 0, clientHeight: 800, scrollHeight: 2000 };
  let hasFocus = true;
  const document = {
    hidden: false,
    title: 'Title',
    referrer,
    scrollingElement: scrolling,
    hasFocus: () => hasFocus,
    removeEventListener: () => {},
  };
  const moveTo = (to: string) => vi.stubGlobal('location', new URL(to, 'https://shop.example'));
  moveTo(path);
  vi.stubGlobal('window', window);
  vi.stubGlobal('addEventListener', window.addEventListener.bind(window));
  vi.stubGlobal('document', document);
  vi.stubGlobal('navigator', { onLine: true });
  vi.stubGlobal('sessionStorage', tab);
  const fire = (type: string, more: object = {}) => window.dispatchEvent(Object.assign(new Event(type), more));
  return {
    pass: (ms) => vi.advanceTimersByTime(ms),
    fire,
    look(isVisible, isFocused) {
      const isChanged = document.hidden === isVisible;
      hasFocus = isFocused;
      document.hidden = !isVisible;
      fire(isFocused ? 'focus' : 'blur');
      if (isChanged) fire('visibilitychange');
    },
    push(to, navigationType = 'push') {
      moveTo(to);
      window.navigation.dispatchEvent(Object.assign(new Event('currententrychange'), { navigationType }));
    },
    scroll(top) {
      scrolling.scrollTop = top;
      fire('scroll');
    },
    scrolling,
  };
};

/** Lets everything run that needs no time to pass. */
export const settle = async (rounds = 5): Promise<void> => {
  for (let round = 0; round < rounds; round++) await new Promise((resolve) => setImmediate(resolve));
};
