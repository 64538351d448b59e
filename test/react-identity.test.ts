// @module-tag promise
import {
  Activity,
  act,
  createElement,
  Fragment,
  type ReactNode,
  StrictMode,
  Suspense,
  useEffect,
  useLayoutEffect,
} from 'react';
import type { Root } from 'react-dom/client';
import { renderToString } from 'react-dom/server';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ClewProvider, type ClewSession, useIdentity, useTracker } from '../src/react.ts';
import { createTestTracker, type TestTracker } from '../src/testing.ts';

/** As much of a page as React needs to run effects: the components here render nothing. */
const createPage = () => {
  const window = Object.assign(new EventTarget(), { HTMLIFrameElement: class {}, event: undefined });
  const document = Object.assign(new EventTarget(), {
    nodeType: 9,
    nodeName: '#document',
    defaultView: window,
    activeElement: null,
  });
  const container = Object.assign(new EventTarget(), {
    nodeType: 1,
    nodeName: 'DIV',
    tagName: 'DIV',
    namespaceURI: 'http://www.w3.org/1999/xhtml',
    ownerDocument: document,
    textContent: '',
  });
  return { window: Object.assign(window, { document }), document, container: container as unknown as Element };
};

let root: Root;
let test: TestTracker;

beforeEach(async () => {
  test = createTestTracker();
  const page = createPage();
  vi.stubGlobal('window', page.window);
  vi.stubGlobal('document', page.document);
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  const { createRoot } = await import('react-dom/client');
  root = createRoot(page.container);
});
afterEach(async () => {
  await act(async () => root.unmount());
  test.tracker.stop();
  vi.unstubAllGlobals();
});

type Session = string | ClewSession | null | undefined;
const ann = { primaryKey: 'ann' };
const bob = { primaryKey: 'bob' };

const App = ({ session, children }: { session: Session; children?: ReactNode }) => {
  useIdentity(session);
  return createElement(Fragment, null, children);
};
/** A page of a customer, which tracks as it comes and goes. */
const Greeting = ({ name }: { name: string }) => {
  const tracker = useTracker();
  useLayoutEffect(() => () => tracker.track(`${name} leaves the layout`), [tracker, name]);
  useEffect(() => {
    tracker.track(`${name} comes`);
    return () => tracker.track(`${name} goes`);
  }, [tracker, name]);
  return null;
};
const render = (node: ReactNode) =>
  act(async () => root.render(createElement(ClewProvider, { tracker: test.tracker }, node)));
const show = (session: Session, children?: ReactNode) => render(createElement(App, { session }, children));

/** To whom each event belongs, as the service sees it. */
const arrived = async () => {
  await test.tracker.flush();
  const owners = new Map<string, unknown>();
  for (const { correlationValue, payload } of test.events('$identify'))
    owners.set(correlationValue, (payload as { distinct_id: string }).distinct_id);
  return test.events().map(({ event, correlationValue }) => `${event} of ${owners.get(correlationValue) ?? 'nobody'}`);
};
const seen = () => test.tracker.track('seen');

it('useIdentity identifies, switches and resets as the session changes', async () => {
  for (const session of [undefined, ann, undefined, { ...ann }, bob, null, null]) {
    await show(session);
    seen();
  }
  expect(await arrived()).toEqual([
    'seen of ann',
    '$identify of ann',
    ...Array(3).fill('seen of ann'),
    '$identify of bob',
    'seen of bob',
    'seen of nobody',
    'seen of nobody',
  ]);
});

it('useIdentity calls each method once in strict mode, which mounts twice', async () => {
  const identify = vi.spyOn(test.tracker, 'identify');
  const reset = vi.spyOn(test.tracker, 'reset');
  let mounts = 0;
  const Counter = () => {
    useEffect(() => void mounts++, []);
    return null;
  };
  const app = createElement(App, { session: { ...ann, properties: { plan: 'pro' } } }, createElement(Counter));
  const provided = createElement(ClewProvider, { tracker: test.tracker }, app);
  await act(async () => root.render(createElement(StrictMode, null, provided)));
  seen();
  expect(mounts).toBe(2);
  expect(identify).toHaveBeenCalledExactlyOnceWith('ann', { plan: 'pro' }, { signature: undefined });
  expect(reset).not.toHaveBeenCalled();
  expect(await arrived()).toEqual(['$identify of ann', 'seen of ann']);
  expect(test.upserts()).toHaveLength(1);
});

it('useIdentity identifies once when a page that a server has rendered is hydrated', async () => {
  const { hydrateRoot } = await import('react-dom/client');
  const app = createElement(ClewProvider, { tracker: test.tracker }, createElement(App, { session: ann }));
  const logged = vi.spyOn(console, 'error');
  await act(async () => root.unmount());
  await act(async () => {
    root = hydrateRoot(createPage().container, createElement(StrictMode, null, app));
  });
  seen();
  expect(await arrived()).toEqual(['$identify of ann', 'seen of ann']);
  expect(logged).not.toHaveBeenCalled();
});

it('useIdentity gives each event of an effect to the customer of its component', async () => {
  const page = (session: ClewSession) =>
    show(session, createElement(Greeting, { key: session.primaryKey, name: session.primaryKey }));
  test.tracker.identify('somebody from an earlier visit');
  await page(ann);
  await page(bob);
  await show(null);
  expect((await arrived()).slice(1)).toEqual([
    '$identify of ann',
    'ann comes of ann',
    'ann leaves the layout of ann',
    'ann goes of ann',
    '$identify of bob',
    'bob comes of bob',
    'bob leaves the layout of bob',
    'bob goes of bob',
  ]);
});

it('useIdentity takes the last of several changes within a task', async () => {
  await show(ann);
  await act(async () => {
    for (const session of [null, undefined, bob])
      root.render(createElement(ClewProvider, { tracker: test.tracker }, createElement(App, { session })));
  });
  seen();
  expect(await arrived()).toEqual(['$identify of ann', '$identify of bob', 'seen of bob']);
});

it('useIdentity neither resets when it unmounts nor identifies again when it mounts again', async () => {
  const session = { ...ann, properties: { plan: 'pro' } };
  await show(session);
  await render(null);
  seen();
  await show(session);
  seen();
  expect(await arrived()).toEqual(['$identify of ann', 'seen of ann', 'seen of ann']);
  expect(test.upserts()).toHaveLength(1);
});

it('useIdentity follows a log-out that came while its component was unmounted or hidden', async () => {
  await show(ann);
  await render(null);
  await show(null);
  seen();
  await render(createElement(Activity, { mode: 'visible', children: createElement(App, { session: bob }) }));
  await render(createElement(Activity, { mode: 'hidden', children: createElement(App, { session: bob }) }));
  await render(createElement(Activity, { mode: 'hidden', children: createElement(App, { session: null }) }));
  await render(createElement(Activity, { mode: 'visible', children: createElement(App, { session: null }) }));
  seen();
  // bob identifies on the visitor id that the log-out of ann has started.
  expect(await arrived()).toEqual(['$identify of ann', 'seen of bob', '$identify of bob', 'seen of nobody']);
});

it('useIdentity uses a new signature of the same customer', async () => {
  await show({ ...ann, signature: 'one' });
  await show({ ...ann, signature: 'two' });
  test.tracker.setProperties({ plan: 'pro' });
  expect(await arrived()).toEqual(['$identify of ann']);
  expect(test.upserts()).toMatchObject([{ signature: 'two' }]);
});

it('useIdentity waits with a component that suspends', async () => {
  let resolve = () => {};
  let isLoaded = false;
  const loading = new Promise<void>((done) => {
    resolve = () => {
      isLoaded = true;
      done();
    };
  });
  const Member = () => {
    if (!isLoaded) throw loading;
    useIdentity(ann);
    return null;
  };
  await render(createElement(Suspense, { fallback: null }, createElement(Member)));
  expect(await arrived()).toEqual([]);
  await act(async () => resolve());
  expect(await arrived()).toEqual(['$identify of ann']);
});

it('useIdentity follows with another tracker of the provider', async () => {
  await show(ann);
  const other = createTestTracker();
  await act(async () =>
    root.render(createElement(ClewProvider, { tracker: other.tracker }, createElement(App, { session: ann }))),
  );
  await other.tracker.flush();
  expect(other.events('$identify')).toHaveLength(1);
  other.tracker.stop();
});

it('useIdentity switches with a component that is mounted anew for each customer', async () => {
  for (const session of [ann, bob]) {
    await render(createElement(App, { key: session.primaryKey, session }));
    seen();
  }
  expect(await arrived()).toEqual(['$identify of ann', 'seen of ann', '$identify of bob', 'seen of bob']);
});

it('useIdentity without a provider throws an error that names it', () => {
  expect(() => renderToString(createElement(App, { session: ann }))).toThrow('expected a <ClewProvider tracker={…}>');
});
