/** Mistakes that must not compile, and uses that must. `tsc -p test` checks them, and this code never runs. */
import * as v from 'valibot';
import {
  type Answer,
  type BrowserContext,
  browserContext,
  type ClickOptions,
  checkEvents,
  clicks,
  cookieDomain,
  createTracker,
  type DropReason,
  type PageViewOptions,
  type Plugin,
  pageViews,
  redactUrls,
  type Tracker,
  type TrackerOptions,
  type WireEvent,
} from '../src/index.ts';
import type {
  AddressOptions,
  BotOptions,
  EnrichOptions,
  LimitOptions,
  RelayOptions,
  SeenOptions,
  VisitorCookieOptions,
} from '../src/relay.ts';
import type { Service, ServiceEvent, ServiceOptions } from '../src/service.ts';
import { createTestTracker } from '../src/testing.ts';

interface Events {
  signup: { plan: 'free' | 'pro' };
  'cart viewed': undefined;
  searched: { term: string } | undefined;
}

export const typed = (tracker: Tracker<Events>) => {
  tracker.track('signup', { plan: 'free' });
  tracker.track('signup', { plan: 'pro' });
  tracker.track('cart viewed');
  tracker.track('cart viewed', undefined);
  tracker.track('searched');
  tracker.track('searched', { term: 'shoes' });
  // @ts-expect-error no such event
  tracker.track('sign up', { plan: 'free' });
  // @ts-expect-error no such event, without a payload
  tracker.track('cart');
  // @ts-expect-error the payload is missing
  tracker.track('signup');
  // @ts-expect-error no such plan
  tracker.track('signup', { plan: 'gold' });
  // @ts-expect-error a property is missing
  tracker.track('signup', {});
  // @ts-expect-error no such property
  tracker.track('signup', { plan: 'pro', price: 7 });
  // @ts-expect-error it has no payload
  tracker.track('cart viewed', { items: 3 });
  // @ts-expect-error another event's payload
  tracker.track('searched', { plan: 'pro' });
  // @ts-expect-error names are text
  tracker.track(7);
  // @ts-expect-error one payload at most
  tracker.track('signup', { plan: 'pro' }, {});

  const sent: Promise<void> = tracker.trackNow('signup', { plan: 'pro' });
  void tracker.trackNow('cart viewed');
  // @ts-expect-error no such event
  void tracker.trackNow('sign up');
  // @ts-expect-error the payload is missing
  void tracker.trackNow('signup');
  // @ts-expect-error no such plan
  void tracker.trackNow('signup', { plan: 'gold' });
  return sent;
};

export const typedByDeclaration = () => {
  const tracker = createTracker<{ signup: { plan: 'free' | 'pro' }; 'cart viewed': undefined }>({ baseUrl: '/clew' });
  tracker.track('signup', { plan: 'pro' });
  tracker.track('cart viewed');
  // @ts-expect-error no such plan
  tracker.track('signup', { plan: 'gold' });
  // @ts-expect-error no such event
  tracker.track('viewed');
};

export const untyped = () => {
  const tracker = createTracker({ baseUrl: '/clew' });
  tracker.track('anything');
  tracker.track('anything', { at: ['all', 1, null] });
  tracker.track('anything', 7);
  void tracker.trackNow('anything', 'text');
  // @ts-expect-error names are text
  tracker.track(7);
};

export const listening = (tracker: Tracker) => {
  const off: () => void = tracker.on('delivered', ({ events }) => {
    const list: WireEvent[] = events;
    // @ts-expect-error what was delivered has no reason
    return [list, events.reason];
  });
  tracker.on('dropped', ({ events, reason }) => {
    const why: DropReason = reason;
    const name: string | undefined = events[0]?.event;
    // @ts-expect-error no such reason
    return [why, name, reason === 'bored'];
  });
  tracker.on('error', (error: Error) => error.message);
  tracker.on('error', () => {});
  // @ts-expect-error no such signal
  tracker.on('sent', () => {});
  // @ts-expect-error an error is no text
  tracker.on('error', (text: string) => text);
  // @ts-expect-error the listener is missing
  tracker.on('error');
  return off;
};

export const theRest = async (tracker: Tracker<Events>) => {
  tracker.identify('ann');
  tracker.identify('ann', { plan: 'pro', age: null });
  // @ts-expect-error a primary key is text
  tracker.identify(7);
  // @ts-expect-error a primary key is needed
  tracker.identify();
  // @ts-expect-error properties are an object
  tracker.setProperties('pro');
  tracker.page();
  tracker.page({ title: 'Home', section: 'shop' });
  // @ts-expect-error a title is text
  tracker.page({ title: 7 });
  tracker.consent(true);
  // @ts-expect-error an answer is needed
  tracker.consent();
  const { tracked, dropped } = tracker.stats();
  const thread: string = await tracker.correlationValue();
  const full: number | undefined = dropped.full;
  return [tracked, full, thread];
};

/** Unlike a type, an interface has no index signature. */
interface Customer {
  plan: 'free' | 'pro';
  age: number | null;
}
declare const customer: Customer;

export const interfaces = (tracker: Tracker<Events>, service: Service) => {
  tracker.identify('ann', customer);
  tracker.setProperties(customer);
  tracker.page(customer);
  createTracker({ baseUrl: '/clew', context: () => customer });
  createTracker({ baseUrl: '/clew', context: (): Customer | BrowserContext => browserContext() });
  void service.upsertCustomer('ann', customer);
  const enrich: EnrichOptions = { userAgent: () => customer };
  interface Home {
    title: string;
  }
  tracker.page({ title: 'Home' } satisfies Home as Home);
  interface Bad {
    title: number;
  }
  // @ts-expect-error a title is text
  tracker.page({ title: 7 } satisfies Bad as Bad);
  return enrich;
};

export const noProperties = (tracker: Tracker<Events>) => {
  const wrong = [
    [customer],
    new Map([['plan', 'pro']]),
    new Date(),
    () => customer,
    Promise.resolve(customer),
  ] as const;
  // @ts-expect-error a list
  tracker.setProperties(wrong[0]);
  // @ts-expect-error a map
  tracker.setProperties(wrong[1]);
  // @ts-expect-error a date
  tracker.setProperties(wrong[2]);
  // @ts-expect-error a function
  tracker.setProperties(wrong[3]);
  // @ts-expect-error a promise
  tracker.setProperties(wrong[4]);
  // @ts-expect-error text
  tracker.identify('ann', 'pro');
  // @ts-expect-error a list
  tracker.page([customer]);
  // @ts-expect-error a promise
  createTracker({ baseUrl: '/clew', context: async () => customer });
};

export const unions = (tracker: Tracker<Events>, name: 'signup' | 'searched') => {
  // @ts-expect-error the payload of one of them
  tracker.track(name, { plan: 'pro' });
  // @ts-expect-error the payload of one of them
  void tracker.trackNow(name, { plan: 'pro' });
  // @ts-expect-error one of them needs a payload
  tracker.track(name);
  tracker.track(name, { plan: 'pro', term: 'shoes' });
  // @ts-expect-error one of them has no payload
  tracker.track('cart viewed' as 'cart viewed' | 'signup', { plan: 'pro' });
  // @ts-expect-error one of them needs a payload
  tracker.track('cart viewed' as 'cart viewed' | 'signup');
  tracker.track('cart viewed' as 'cart viewed' | 'searched');
  // @ts-expect-error the payload of one of them
  createTestTracker<Events>().tracker.track(name, { plan: 'pro' });
  createTracker<{ opened: Customer; closed: Customer }>({ baseUrl: '/clew' }).track(
    'opened' as 'opened' | 'closed',
    customer,
  );
};

/** Every option of `Options` that can be left out, as `undefined`. */
type Unset<Options> = { [Name in keyof Options as object extends Pick<Options, Name> ? Name : never]-?: undefined };
/** `undefined` turns these checks off, so that the relay throws. */
type Guarded = 'identitySecret' | 'identityKeys' | 'allowedOrigins' | 'allowedEvents' | 'allowedProperties';

export const unset = (given: {
  tracker: Unset<TrackerOptions>;
  clicks: Unset<ClickOptions>;
  pageViews: Unset<PageViewOptions>;
  answer: Unset<Answer>;
  service: Unset<ServiceOptions>;
  event: Unset<ServiceEvent>;
  relay: Omit<Unset<RelayOptions>, Guarded>;
  limits: Unset<LimitOptions>;
  address: Unset<AddressOptions>;
  enrich: Unset<EnrichOptions>;
  bots: Unset<BotOptions>;
  cookie: Unset<VisitorCookieOptions>;
  seen: Unset<SeenOptions>;
}) => {
  createTracker({ baseUrl: '/clew', ...given.tracker });
  createTestTracker({ baseUrl: undefined, ...given.tracker });
  const all: [
    Partial<ClickOptions>,
    Partial<PageViewOptions>,
    Partial<Answer>,
    Partial<ServiceOptions>,
    Partial<ServiceEvent>,
    RelayOptions,
    LimitOptions,
    AddressOptions,
    EnrichOptions,
    Partial<BotOptions>,
    Partial<VisitorCookieOptions>,
    SeenOptions,
  ] = [
    given.clicks,
    given.pageViews,
    given.answer,
    given.service,
    given.event,
    given.relay,
    given.limits,
    given.address,
    given.enrich,
    given.bots,
    given.cookie,
    given.seen,
  ];
  return all;
};

export const unsetArguments = (tracker: Tracker<Events>) => {
  tracker.identify('ann', undefined, undefined);
  tracker.identify('ann', customer, { signature: undefined });
  tracker.page({ title: undefined, section: undefined });
  // @ts-expect-error a variable that is not set would turn the check off
  const secret: RelayOptions = { identitySecret: undefined };
  // @ts-expect-error a variable that is not set would turn the check off
  const origins: RelayOptions = { allowedOrigins: undefined };
  // @ts-expect-error a variable that is not set would turn the check off
  const events: RelayOptions = { allowedEvents: undefined };
  // @ts-expect-error a variable that is not set would turn the check off
  const properties: RelayOptions = { allowedProperties: undefined };
  return [secret, origins, events, properties];
};

export const options = () => {
  // @ts-expect-error baseUrl is required
  createTracker({});
  // @ts-expect-error a number of ms
  createTracker({ baseUrl: '/clew', flushInterval: '3000' });
  // @ts-expect-error no such answer
  createTracker({ baseUrl: '/clew', consent: 'denied' });
  // @ts-expect-error no such option
  createTracker({ baseUrl: '/clew', interval: 3000 });
  const own: Plugin = (tracker) => tracker.on('error', () => tracker.track('failed'));
  createTracker<{ signup: undefined }>({ baseUrl: '/clew', pageViews: pageViews({ hash: true }), clicks: own });
  const dropping: Plugin = (_tracker, { onTrack, local }) => {
    onTrack(({ event }) => event !== 'draft' && { release: '1.4.2' });
    local.set('release', '1.4.2');
    return () => {};
  };
  createTracker({ baseUrl: '/clew', plugins: [own, dropping, undefined, null, false] }).use(own);
  // @ts-expect-error a plugin returns its undoing
  createTracker({ baseUrl: '/clew', plugins: [() => {}] });
  // @ts-expect-error a list
  createTracker({ baseUrl: '/clew', plugins: own });
  createTracker({ baseUrl: '/clew', cookieDomain: cookieDomain('auto') });
  // @ts-expect-error what is to be bundled has to be imported
  createTracker({ baseUrl: '/clew', pageViews: true });
  // @ts-expect-error it has to be called
  createTracker({ baseUrl: '/clew', clicks });
  // @ts-expect-error no such option
  pageViews({ outbound: true });
};

export const filters = () => {
  interface Release {
    release: string;
  }
  const release: Release = { release: '1.4.2' };
  createTracker({ baseUrl: '/clew', beforeSend: redactUrls(), context: browserContext });
  createTracker({ baseUrl: '/clew', beforeSend: undefined, context: () => ({ ...release }) });
  createTracker({ baseUrl: '/clew', beforeSend: ({ event }) => (event === 'noise' ? null : { event }) });
  createTracker({ baseUrl: '/clew', beforeSend: checkEvents({ signup: v.object({ plan: v.string() }) }) });
  // @ts-expect-error an answer that comes later is none
  createTracker({ baseUrl: '/clew', beforeSend: async (event) => event });
  // @ts-expect-error an answer that comes later is none
  createTracker({ baseUrl: '/clew', context: async () => ({ release: '1.4.2' }) });
  // @ts-expect-error no properties
  createTracker({ baseUrl: '/clew', context: () => 'release' });
  // @ts-expect-error no schema
  checkEvents({ signup: { plan: 'string' } });
};

/** The single-event endpoint takes no time. */
export const single = (service: Service, event: Omit<ServiceEvent, 'timestamp'>) => {
  void service.sendEvent(event);
  const timed = { ...event, timestamp: '2026-01-31T12:00:00.000Z' };
  // @ts-expect-error a variable with a time, too
  void service.sendEvent(timed);
};
