import { type Fact, onlyChromium } from './fact.ts';

/** The events of a page that the browser loads before the visitor navigates to it. */
export const prerenderedFacts: readonly Fact[] = [
  {
    name: 'a prerendered page is hidden and runs, and becomes visible before its prerenderingchange',
    play: (browser) =>
      browser.prerender(
        () =>
          new Promise<unknown>((resolve) => {
            const page = document as Document & { prerendering: boolean };
            const seen: unknown[] = [];
            const note = (what: string) => void seen.push([what, page.prerendering, page.hidden]);
            note('script');
            page.addEventListener('visibilitychange', () => note('visibilitychange'));
            page.addEventListener('prerenderingchange', () => {
              note('prerenderingchange');
              resolve(seen);
            });
          }),
      ),
    outcome: [
      ['script', true, true],
      ['visibilitychange', true, false],
      ['prerenderingchange', false, false],
    ],
    cannot: onlyChromium('it does not prerender'),
  },
];
