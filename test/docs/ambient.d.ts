/**
 * What the blocks of the documentation leave out: what a reader has already, or would see anywhere. A global file, kept out
 * of the program of the tests.
 */

interface AppEvents {
  signup: { plan: 'free' | 'pro' };
  'cart viewed': undefined;
}
declare const tracker: import('clew').Tracker<AppEvents>;

/** The script tag's function. */
declare function clew<Method extends keyof import('clew').Tracker>(
  method: Method,
  ...args: Parameters<import('clew').Tracker[Method]>
): ReturnType<import('clew').Tracker[Method]>;
interface Window {
  // biome-ignore lint/suspicious/noExplicitAny: a page may put anything there, and a tag manager's stub looks
  clew: any;
}

interface ImportMeta {
  readonly env: { readonly DEV: boolean };
}

/** The app's own. */
declare const consentPlatform: { onChange(listener: (answer: { statistics: boolean }) => void): void };
declare const metrics: { gauge(name: string, value: number): void };
declare const queue: { append(request: { path: string; body: string }): Promise<void> };

/** Consent platforms. */
interface WindowEventMap {
  OneTrustGroupsUpdated: CustomEvent<string[]>;
  ucEvent: CustomEvent<Record<string, unknown>>;
}
declare const OneTrust: { IsAlertBoxClosed(): boolean };
declare const Cookiebot: { consent: { statistics: boolean } };
declare const gtag: (...command: unknown[]) => void;
interface TcData {
  eventStatus: 'cmpuishown' | 'tcloaded' | 'useractioncomplete';
  gdprApplies?: boolean;
  tcString: string;
  purpose: { consents: Record<number, boolean> };
}
declare const __tcfapi: (
  command: 'addEventListener',
  version: 2,
  listener: (data: TcData, success: boolean) => void,
) => void;

/** Frameworks that are no dependency of this repository: as much of them as the recipes use. */
declare module '@angular/core' {
  export const Component: (options: object) => (target: unknown) => void;
  export const inject: <T>(token: abstract new (...args: never[]) => T) => T;
}
declare module '@angular/core/rxjs-interop' {
  export const takeUntilDestroyed: () => <T>(from: T) => T;
}
declare module '@angular/router' {
  export class NavigationEnd {
    urlAfterRedirects: string;
  }
  export class RouterOutlet {}
  export class Router {
    events: import('rxjs').Observable<unknown>;
  }
}
declare module 'rxjs' {
  type Operator<T, U> = (from: Observable<T>) => Observable<U>;
  export interface Observable<T> {
    pipe<A, B, C, D>(a: Operator<T, A>, b: Operator<A, B>, c: Operator<B, C>, d: Operator<C, D>): Observable<D>;
    subscribe(next: (value: T) => void): void;
  }
  export const filter: <T, U extends T>(test: (value: T) => value is U) => Operator<T, U>;
  export const map: <T, U>(change: (value: T) => U) => Operator<T, U>;
  export const distinctUntilChanged: <T>() => Operator<T, T>;
}
declare module '$app/navigation' {
  type Place = { url: URL } | null;
  export const afterNavigate: (listener: (navigation: { from: Place; to: Place }) => void) => void;
}
declare module 'next' {
  export interface NextConfig {
    skipTrailingSlashRedirect?: boolean;
  }
}
/** What Nuxt imports by itself. */
declare const defineEventHandler: <T>(handle: (event: { method: string }) => T) => unknown;
declare const defineNuxtPlugin: (install: (nuxt: { vueApp: import('vue').App }) => void) => unknown;
declare const useRouter: () => import('vue-router').Router;
declare const toWebRequest: (event: { method: string }) => Request;
declare module '$lib/tracker' {
  export const tracker: import('clew').Tracker<AppEvents>;
}
declare function $props(): Record<string, () => void>;
declare module '@solidjs/router' {
  export const useLocation: () => { pathname: string };
}
declare module 'solid-js' {
  export interface ParentProps {
    children?: import('react').ReactNode;
  }
  export const createEffect: (run: () => void) => void;
  export const on: <T>(source: () => T, run: (value: T) => void) => () => void;
}
declare module '*/router' {
  export const router: import('vue-router').Router;
}
/** The inspector's file, as a page without a bundler has it; `clew/inspector` has its types. */
declare module '*/inspector.js' {
  export const inspect: (tracker: unknown, options?: { parent?: Element }) => () => void;
}
declare module '*.vue' {
  const component: import('vue').Component;
  export default component;
}
declare const Deno: {
  serve(handle: (request: Request, info: { remoteAddr: object }) => Response | Promise<Response>): void;
};
declare const Bun: {
  serve(options: { fetch: (request: Request, server: { port: number }) => Response | Promise<Response> }): void;
};
