import { type Fact, onlyChromium } from './fact.ts';

const cannot = onlyChromium('it has no fetchLater');

/** Leaves a request that is taken back, and one that is not. */
const leaveRequests = ([taken, left]: [taken: string, left: string]) => {
  const { fetchLater } = window as unknown as { fetchLater: typeof fetch };
  const taking = new AbortController();
  fetchLater(taken, { method: 'POST', body: 'x', signal: taking.signal });
  fetchLater(left, { method: 'POST', body: 'x' });
  taking.abort();
};

const endings = {
  'a page that navigates': 'navigate',
  'a page that enters the back/forward cache': 'leave',
  'a page that crashes': 'crash',
} as const;

/** When the browser sends requests of `fetchLater`, and how many it takes. */
export const laterFacts: readonly Fact[] = [
  ...Object.entries(endings).map(
    ([what, end]): Fact => ({
      name: `the browser sends the fetchLater request of ${what}, unless it is aborted, and not before`,
      async play({ open, holder }, id) {
        const tab = await open();
        const paths = ['taken', 'left'].map((kind) => `${encodeURIComponent(id)}/${kind}`) as [string, string];
        await tab.evaluate(leaveRequests, paths.map((path) => holder.address + path) as [string, string]);
        const before = paths.map(holder.hasArrived);
        await tab[end]();
        await holder.arrived(paths[1]);
        return [before, paths.map(holder.hasArrived)];
      },
      outcome: [
        [false, false],
        [false, true],
      ],
      cannot,
    }),
  ),
  {
    name: 'fetchLater requests to one origin share 64 KiB, in which addresses and headers count, but no beacons',
    async play(browser) {
      const tab = await browser.open();
      return tab.evaluate(() => {
        const { fetchLater } = window as unknown as { fetchLater: typeof fetch };
        const { href } = new URL('/blank', location.href);
        const headers = ['Content-Type', 'text/plain;charset=UTF-8'];
        // The referrer counts before it is known.
        const most = 65_536 - [href, 'about:client', ...headers].join('').length;
        const take = (bytes: number, address = href) => {
          const taking = new AbortController();
          try {
            fetchLater(address, { method: 'POST', body: 'x'.repeat(bytes), signal: taking.signal });
            return () => taking.abort();
          } catch (error) {
            return (error as Error).name;
          }
        };
        const isBeaconTaken = navigator.sendBeacon('/blank', 'x'.repeat(40_000));
        const tooMuch = take(most + 1);
        const first = take(most);
        const second = take(1);
        const elsewhere = take(60_000, 'https://elsewhere.example/');
        if (typeof first === 'function') first();
        const again = take(most);
        return [isBeaconTaken, tooMuch, typeof first, second, typeof elsewhere, typeof again];
      });
    },
    outcome: [true, 'QuotaExceededError', 'function', 'QuotaExceededError', 'function', 'function'],
    cannot,
  },
];
