/**
 * Declarations that the blocks of the documentation leave out, because a reader's project has them. The file declares
 * globals, so the program of the tests excludes it.
 */

interface AppEvents {
  signup: { plan: 'free' | 'pro' };
  'cart viewed': undefined;
}
declare const tracker: import('clew').Tracker<AppEvents>;

/** The script tag's function. */
type Tracker_ = import('clew').Tracker;
interface ScriptTag extends Tracker_ {
  ready(callback: (tracker: import('clew').Tracker) => void): void;
}
declare function clew<Method extends keyof ScriptTag>(
  method: Method,
  ...args: Parameters<ScriptTag[Method]>
): ReturnType<ScriptTag[Method]>;
interface Window {
  // biome-ignore lint/suspicious/noExplicitAny: a page may put anything there, and a tag manager's stub looks
  clew: any;
}

interface ImportMeta {
  readonly env: { readonly DEV: boolean };
}

/** Objects of the app. */
declare const consentPlatform: { onChange(listener: (answer: { statistics: boolean }) => void): void };
declare const metrics: { gauge(name: string, value: number): void };
declare const queue: { append(request: { path: string; body: string }): Promise<void> };
declare const tokenOf: (user: SessionUser) => Promise<string>;
declare const userOf: (request: import('node:http').IncomingMessage) => Promise<SessionUser | undefined>;

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

/** Frameworks that are no dependency of this repository, with the parts that the recipes use. */
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
/** Functions that Nuxt imports by itself. */
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
/** The app's own session: in React, and in Vue. */
interface SessionUser {
  id: string;
  plan: string;
}
declare module '*/session' {
  export const useSession: () => { isLoading: boolean; user: SessionUser | null };
}
declare module '*/sessionRefs' {
  type Ref<T> = import('vue').Ref<T>;
  export const useSession: () => { isLoading: Ref<boolean>; user: Ref<SessionUser | null> };
}
declare module '*/router' {
  export const router: import('vue-router').Router;
}
/** The inspector's file, as a page without a bundler imports it. `clew/inspector` has its types. */
declare module '*/inspector.js' {
  export const inspect: (tracker: unknown, options?: { parent?: Element }) => () => void;
}
/** The same for the file of the plugins. */
declare module '*/plugins.js' {
  export * from 'clew/plugins';
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
