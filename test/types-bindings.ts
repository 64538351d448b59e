/** Mistakes with `clew/react` and `clew/vue` that must not compile, and uses that must. This code never runs. */
import { createElement } from 'react';
import { useLocation } from 'react-router';
import { computed, createApp, type GlobalDirectives, type Ref, ref } from 'vue';
import { createMemoryHistory, createRouter } from 'vue-router';
import { createTracker } from '../src/index.ts';
import * as react from '../src/react.ts';
import * as vue from '../src/vue.ts';

interface Events {
  signup: { plan: 'free' | 'pro' };
  'cart viewed': undefined;
}
const tracker = createTracker<Events>({ baseUrl: '/clew' });

export const Hooks = () => {
  for (const tracker of [react.useTracker<Events>(), vue.useTracker<Events>()]) {
    tracker.track('signup', { plan: 'pro' });
    tracker.track('cart viewed');
    // @ts-expect-error no such event
    tracker.track('sign up', { plan: 'free' });
    // @ts-expect-error the payload is missing
    tracker.track('signup');
    // @ts-expect-error no such plan
    tracker.track('signup', { plan: 'gold' });
    // @ts-expect-error it has no payload
    tracker.track('cart viewed', { items: 3 });
  }
  for (const useAppTracker of [react.useTracker<Events>, vue.useTracker<Events>]) {
    useAppTracker().track('signup', { plan: 'free' });
    // @ts-expect-error no such event
    useAppTracker().track('viewed');
  }
  for (const useTracker of [react.useTracker, vue.useTracker]) {
    useTracker().track('anything', { at: 'all' });
    // @ts-expect-error names are text
    useTracker().track(7);
  }
};

export const Unions = (name: 'signup' | 'cart viewed') => {
  for (const tracker of [react.useTracker<Events>(), vue.useTracker<Events>()]) {
    // @ts-expect-error the payload of one of them
    tracker.track(name, { plan: 'pro' });
    // @ts-expect-error one of them needs a payload
    tracker.track(name);
  }
};

interface Customer {
  plan: 'free' | 'pro';
}

export const Interfaces = (customer: Customer) => {
  for (const tracker of [react.useTracker<Events>(), vue.useTracker<Events>()]) {
    tracker.identify('ann', customer);
    tracker.setProperties(customer);
    tracker.page(customer);
    // @ts-expect-error a list
    tracker.setProperties([customer]);
  }
};

export const Unset = () => {
  createElement(react.ClewProvider<Events>, { tracker, children: undefined });
  react.usePageViews({ pathname: '/club', search: undefined }, { query: undefined });
  vue.createClew({ tracker, router: undefined, query: undefined });
};

export const Provided = () => {
  createElement(react.ClewProvider<Events>, { tracker }, 'children');
  // @ts-expect-error the tracker is missing
  createElement(react.ClewProvider, {});
  // @ts-expect-error that is no tracker
  createElement(react.ClewProvider, { tracker: { track: () => {} } });
};

export const Viewed = () => {
  react.usePageViews(useLocation());
  react.usePageViews('/club', { query: true });
  // @ts-expect-error a location has a pathname
  react.usePageViews({ path: '/club' });
  // @ts-expect-error no such option
  react.usePageViews('/club', { hash: true });
};

export const Identified = (token: string | undefined, user: { id: string; plan: string } | null) => {
  const session = user && { primaryKey: user.id, properties: { plan: user.plan }, signature: token };
  for (const useIdentity of [react.useIdentity, vue.useIdentity]) {
    useIdentity(token);
    useIdentity(session);
    useIdentity(null);
    useIdentity({ primaryKey: 'ann', properties: undefined, signature: undefined });
    // @ts-expect-error the primary key is missing
    useIdentity({ signature: token });
    // @ts-expect-error a primary key is text
    useIdentity({ primaryKey: 7 });
    // @ts-expect-error no such field
    useIdentity({ primaryKey: 'ann', token });
  }
  const loading: Ref<string | undefined> = ref();
  vue.useIdentity(loading);
  vue.useIdentity(computed(() => session));
  vue.useIdentity(() => session);
  vue.useIdentity(ref<vue.ClewSession | null>(null));
  // @ts-expect-error a number is no session
  vue.useIdentity(ref(7));
  // @ts-expect-error a list is no session
  vue.useIdentity(() => [session]);
  const kept: react.ClewSession | undefined = session ?? undefined;
  return kept;
};

export const installed = () => {
  const router = createRouter({ history: createMemoryHistory(), routes: [] });
  createApp({}).use(vue.createClew({ tracker }));
  createApp({}).use(vue.createClew({ tracker, router, query: true }));
  // @ts-expect-error the tracker is missing
  vue.createClew({ router });
  // @ts-expect-error that is no router
  vue.createClew({ tracker, router: '/' });
};

export const bound: vue.ClewBinding[] = [
  'signup',
  { event: 'signup', payload: { plan: 'pro' }, on: 'submit' },
  { event: 'signup', payload: undefined, on: undefined },
  // @ts-expect-error the event is missing
  { payload: { plan: 'pro' } },
];

export const Templates = (directive: GlobalDirectives['vClew']) => {
  const binding: Parameters<NonNullable<Exclude<typeof directive, (...given: never[]) => unknown>['mounted']>>[1] =
    {} as never;
  const value: string | { event: string } | null = binding.value;
  return value;
};
