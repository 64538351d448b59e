import { contentOf, type NetworkAnswer } from '../server/network.ts';
import { isRedirect } from '../server/outcome.ts';
import type { World } from '../world/world.ts';
import type { Signal } from './abort.ts';
import type { Browser, UnderWay } from './browser.ts';
import type { Page } from './page.ts';
import { createHeaders } from './responses.ts';

interface Init {
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  keepalive?: boolean;
  signal?: Signal;
  redirect?: 'error' | 'follow';
}

/** The origin of all pages. The servers know their own addresses as paths. */
export const ORIGIN = 'https://shop.example';

/** The requests of one page. */
export interface Fetching {
  fetch(url: string, init: Init): Promise<object>;
  sendBeacon(url: string, body: string): boolean;
  fetchLater(url: string, init: Init): object;
  /** Sends the requests of `fetchLater`, because the page is going away. */
  sendLater(): void;
  /** Aborts the requests of a page that is gone, except keep-alive requests. */
  abort(): void;
}

/**
 * Bytes that keep-alive requests and beacons of a page share: https://fetch.spec.whatwg.org/#http-network-or-cache-fetch
 * Requests of `fetchLater` to one origin share as many.
 */
export const KEEPALIVE_QUOTA = 65_536;

const bytesOf = (body: string | Uint8Array = ''): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : body.length;

const originOf = (url: string): string => new URL(url, ORIGIN).origin;

/** Bytes of a request of `fetchLater`: https://fetch.spec.whatwg.org/#total-request-length */
const lengthOf = (url: string, { headers = { 'Content-Type': 'text/plain;charset=UTF-8' }, body }: Init): number =>
  [new URL(url, ORIGIN).href, 'about:client', ...Object.entries(headers).flat()].join('').length + bytesOf(body);

export const createFetching = (world: World, browser: Browser, page: Page): Fetching => {
  const { scheduler } = world;
  /** Bytes of the keep-alive bodies whose requests have no answer yet. */
  let alive = 0;
  const later = new Set<{ url: string; init: Init }>();

  /** Sends a request that may outlive the page. */
  const post = (
    url: string,
    { headers = {}, body = '', keepalive = false }: Init,
    done: (answer: NetworkAnswer | undefined) => void,
  ) => {
    if (page.state === 'gone') return undefined;
    const request = { from: page.name, url: url.replace(ORIGIN, ''), headers: { ...headers }, body };
    world.log(page.name, () => `sends ${bytesOf(body)} bytes to ${request.url}: ${contentOf(request)}`);
    if (!browser.isOnline) return void scheduler.after(1, 'offline', () => done(undefined));
    const sent = browser.network.send(request, (answer) => {
      browser.underWay.delete(entry);
      done(answer);
    });
    const entry: UnderWay = { page, isKept: keepalive, cut: sent.cut };
    browser.underWay.add(entry);
    return sent;
  };
  /** Reserves bytes of the quota. Returns the function that frees them, or undefined if the quota is exceeded. */
  const reserve = (bytes: number): (() => void) | undefined => {
    if (alive + bytes > KEEPALIVE_QUOTA) return undefined;
    alive += bytes;
    return () => {
      alive -= bytes;
    };
  };

  const responseOf = (answer: NetworkAnswer) => ({
    status: answer.status,
    ok: answer.status >= 200 && answer.status < 300,
    type: 'basic',
    redirected: false,
    headers: createHeaders(answer.headers),
    async text() {
      if (answer.isCut) throw new TypeError('network error');
      answer.accepted?.();
      return answer.text;
    },
  });

  return {
    fetch: (url, init) =>
      new Promise((resolve, reject) => {
        const free = init.keepalive ? reserve(bytesOf(init.body)) : () => {};
        if (!free) return reject(new TypeError('keepalive quota exceeded'));
        let isOver = false;
        const settle = (result: string, run: () => void) => {
          if (isOver) return;
          isOver = true;
          free();
          // As a task of the page, the answer never reaches a page that is gone, and waits for a page in the back/forward cache.
          const task = () => {
            world.log(page.name, () => `gets ${result}`);
            run();
          };
          scheduler.after(0, `${page.name} answer`, task, { owner: page });
        };
        const sent = post(url, init, (answer) =>
          settle(answer ? `${answer.status}${answer.isCut ? ', whose body breaks off' : ''}` : 'no answer', () => {
            const isFollowed = answer && isRedirect(answer.status);
            if (!answer || (isFollowed && init.redirect === 'error')) reject(new TypeError('Failed to fetch'));
            else resolve(responseOf(isFollowed ? { ...answer, status: 200 } : answer));
          }),
        );
        init.signal?.addEventListener('abort', () => {
          sent?.giveUp();
          settle('no answer in time', () => reject(init.signal?.reason));
        });
      }),
    sendBeacon(url, body) {
      const free = reserve(bytesOf(body));
      if (!free) return false;
      post(url, { body, headers: { 'Content-Type': 'text/plain;charset=UTF-8' }, keepalive: true }, free);
      return true;
    },
    fetchLater(url, init) {
      const entry = { url, init };
      const length = [...later, entry]
        .filter((other) => originOf(other.url) === originOf(url))
        .reduce((sum, { url, init }) => sum + lengthOf(url, init), 0);
      if (length > KEEPALIVE_QUOTA) throw new DOMException('over quota', 'QuotaExceededError');
      later.add(entry);
      init.signal?.addEventListener('abort', () => later.delete(entry));
      return {};
    },
    sendLater() {
      for (const { url, init } of later) post(url, { ...init, keepalive: true }, () => {});
      later.clear();
    },
    abort() {
      for (const entry of browser.underWay) {
        if (entry.page !== page || entry.isKept) continue;
        browser.underWay.delete(entry);
        entry.cut();
      }
    },
  };
};
