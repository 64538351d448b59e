import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  createApp,
  createRenderer,
  createSSRApp,
  h,
  nextTick,
  resolveDirective,
  shallowRef,
  withDirectives,
} from 'vue';
import { renderToString } from 'vue/server-renderer';
import { createMemoryHistory, createRouter } from 'vue-router';
import { createTracker } from '../src/index.ts';
import { type ClewBinding, createClew, useTracker } from '../src/vue.ts';

const tracker = createTracker({ baseUrl: '/clew' });
const newRouter = () => {
  const component = { render: () => 'a page' };
  return createRouter({
    history: createMemoryHistory(),
    routes: [
      ...['/', '/yarns', '/club'].map((path) => ({ path, component })),
      { path: '/join', redirect: '/club' },
      { path: '/account', component, beforeEnter: () => '/club' },
      { path: '/closed', component, beforeEnter: () => false },
    ],
  });
};

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

describe('on a server, where there is no window', () => {
  it('gives components the tracker, ignores v-clew, and tracks no page views', async () => {
    const page = vi.spyOn(tracker, 'page');
    const router = newRouter();
    const app = createSSRApp({
      setup: () => ({ isSame: useTracker() === tracker }),
      template: `<button v-clew:focus="'seen'">{{ isSame }}</button>`,
    });
    app.use(router).use(createClew({ tracker, router }));
    await router.push('/yarns');
    expect(await renderToString(app)).toBe('<button>true</button>');
    expect(page).not.toHaveBeenCalled();
  });
});

it('useTracker without the plugin throws an error that names it', () => {
  const app = createApp({});
  expect(() => app.runWithContext(() => useTracker())).toThrow(
    'clew: useTracker: expected a call in setup, after app.use(createClew({ tracker })), found no tracker',
  );
});

it.each([
  [undefined, 'tracker: expected what createTracker returns'],
  [{}, 'tracker: expected what createTracker returns'],
  [tracker, 'tracker: expected what createTracker returns'],
  [{ tracker, router: '/' }, 'router: expected what createRouter of vue-router returns'],
  [{ tracker, pageViews: true }, 'pageViews: expected one of tracker, router, query'],
])('createClew with wrong options throws an error that names the option: %#', (options, message) => {
  expect(() => createClew(options as never)).toThrow(new TypeError(`clew: createClew: ${message}`));
});

it.each([
  { tracker, router: undefined, query: undefined },
  { tracker, router: newRouter() },
])('createClew takes the options that are there: %#', (options) => {
  expect(() => createClew(options)).not.toThrow();
});

/** The parts of a window that page views need. `location` has the address of the router in memory. */
const startViews = async (options: { query?: boolean; first?: string } = {}) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const page = vi.spyOn(tracker, 'page');
  const router = newRouter();
  const window = new EventTarget();
  const document = Object.assign(new EventTarget(), { title: 'the title before' });
  vi.stubGlobal('document', document);
  vi.stubGlobal('window', window);
  vi.stubGlobal('addEventListener', window.addEventListener.bind(window));
  vi.stubGlobal('removeEventListener', window.removeEventListener.bind(window));
  vi.stubGlobal('location', {
    get href() {
      return `https://shop.example${router.currentRoute.value.fullPath}`;
    },
  });
  const { first, ...views } = options;
  if (first) await router.push(first);
  const { createApp: createTestApp } = createRenderer(nodeOptions);
  const clew = createClew({ tracker, router, ...views });
  const open = (plugin = clew) => {
    const another = createTestApp({ render: () => null });
    another.use(plugin);
    another.mount(new TestNode());
    return another;
  };
  const app = open();
  const go = async (path: string, wait = 100) => {
    await router.push(path);
    await nextTick();
    vi.advanceTimersByTime(wait);
  };
  const whole = () => page.mock.calls.map(([view]) => view);
  const viewsOf = () =>
    whole().map((view) => ({ path: view?.path, ...(view?.referrer && { referrer: view.referrer }) }));
  return { app, document, go, open, router, whole, views: viewsOf, window };
};

describe('page views', () => {
  it('are tracked after 100 ms, with the title that the app has set meanwhile', async () => {
    const { document, go, whole } = await startViews();
    await go('/yarns', 99);
    document.title = 'Yarns';
    expect(whole()).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(whole()).toEqual([{ path: '/yarns', url: 'https://shop.example/yarns', referrer: '', title: 'Yarns' }]);
  });

  it('are tracked with their own address and title if they are left within 100 ms', async () => {
    const { document, go, whole, window } = await startViews();
    await go('/', 1);
    await go('/yarns', 1);
    document.title = 'Our yarns';
    window.dispatchEvent(new Event('pagehide'));
    expect(whole()).toMatchObject([
      { url: 'https://shop.example/', title: 'the title before' },
      { url: 'https://shop.example/yarns', title: 'Our yarns' },
    ]);
  });

  it('have their own titles if the app sets them late and leaves within 100 ms', async () => {
    const { document, go, whole } = await startViews();
    await go('/', 20);
    document.title = 'Home';
    await go('/yarns', 20);
    document.title = 'Yarns';
    await go('/club', 20);
    document.title = 'Club';
    await go('/', 0);
    expect(whole().map((view) => view?.title)).toEqual(['Home', 'Yarns', 'Club']);
  });

  it('are tracked for a view whose app unmounts in the same task', async () => {
    const { app, whole } = await startViews({ first: '/' });
    await nextTick();
    app.unmount();
    await nextTick();
    expect(whole()).toMatchObject([{ path: '/' }]);
  });

  it('are tracked for a route that the router has shown before the plugin is installed', async () => {
    const { go, views } = await startViews({ first: '/join' });
    await nextTick();
    await nextTick();
    vi.advanceTimersByTime(100);
    await go('/yarns');
    expect(views()).toEqual([{ path: '/club' }, { path: '/yarns', referrer: 'https://shop.example/club' }]);
  });

  it('are tracked for each path, with the URL of the previous view', async () => {
    const { go, views } = await startViews();
    for (const path of ['/', '/yarns', '/yarns?fibre=wool', '/yarns#top', '/']) await go(path);
    expect(views()).toEqual([
      { path: '/' },
      { path: '/yarns', referrer: 'https://shop.example/' },
      { path: '/', referrer: 'https://shop.example/yarns' },
    ]);
  });

  it('are tracked for another query only with the option, and never for another hash', async () => {
    const { go, views } = await startViews({ query: true });
    for (const path of ['/yarns', '/yarns#top', '/yarns?fibre=wool', '/yarns?fibre=wool#top']) await go(path);
    expect(views()).toEqual([{ path: '/yarns' }, { path: '/yarns', referrer: 'https://shop.example/yarns' }]);
  });

  it('are tracked once for a redirect and not for a prevented navigation', async () => {
    const { go, views } = await startViews();
    for (const path of ['/join', '/', '/account', '/closed']) await go(path);
    expect(views().map((view) => view?.path)).toEqual(['/club', '/', '/club']);
  });

  it('are tracked when a page returns from the back/forward cache, but not when it is first shown', async () => {
    const { go, views, window } = await startViews();
    const show = (persisted: boolean) => window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted }));
    show(true);
    await go('/yarns');
    show(false);
    expect(views()).toEqual([{ path: '/yarns' }]);
    show(true);
    expect(views()).toEqual([{ path: '/yarns' }, { path: '/yarns' }]);
  });

  it('end when the app unmounts', async () => {
    const { app, go, views, window } = await startViews();
    await go('/');
    app.unmount();
    await go('/yarns');
    window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
    expect(views()).toHaveLength(1);
  });
});

describe('page views of two apps with one tracker and one router', () => {
  it.each([
    ['the plugin', undefined],
    ['two plugins', createClew],
  ])('are tracked once, with %s', async (_name, create) => {
    const { go, open, router, views, window } = await startViews();
    await go('/');
    open(create?.({ tracker, router }));
    await nextTick();
    await go('/yarns');
    window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
    expect(views().map(({ path }) => path)).toEqual(['/', '/yarns', '/yarns']);
  });

  it.each(['first', 'second'])('go on until both have ended, if the %s one ends first', async (which) => {
    const { app, go, open, views } = await startViews();
    const other = open();
    const [earlier, later] = which === 'first' ? [app, other] : [other, app];
    await go('/');
    earlier.unmount();
    earlier.unmount();
    await go('/yarns');
    later.unmount();
    await go('/club');
    expect(views().map(({ path }) => path)).toEqual(['/', '/yarns']);
    // Another one sees the present view first.
    open();
    await nextTick();
    earlier.unmount();
    await go('/');
    expect(views().map(({ path }) => path)).toEqual(['/', '/yarns', '/club', '/']);
  });

  it('are tracked for each of two trackers', async () => {
    const { go, open, router, views } = await startViews();
    const other = createTracker({ baseUrl: '/other' });
    const page = vi.spyOn(other, 'page');
    open(createClew({ tracker: other, router }));
    await go('/');
    expect(views()).toHaveLength(1);
    expect(page).toHaveBeenCalledOnce();
  });
});

describe('v-clew', () => {
  /** One element with the directive. `state` is the binding that a template would have. */
  const mount = (first: ClewBinding | undefined, arg?: string, modifiers: Record<string, boolean> = {}) => {
    const track = vi.spyOn(tracker, 'track');
    const state = shallowRef({ value: first, isThere: true });
    const { createApp: createTestApp } = createRenderer(nodeOptions);
    const root = new TestNode();
    const app = createTestApp({
      render() {
        const directive = resolveDirective('clew');
        const { value, isThere } = state.value;
        return directive && isThere ? withDirectives(h('button'), [[directive, value, arg, modifiers]]) : null;
      },
    });
    app.use(createClew({ tracker }));
    app.mount(root);
    const [button] = root.children as [TestNode];
    const fire = (type: string, options: EventInit = { bubbles: true }) =>
      button.dispatchEvent(new Event(type, options));
    return { state, button, fire, tracked: () => track.mock.calls as unknown[][] };
  };

  it('tracks a click by its name', () => {
    const { fire, tracked } = mount('cart viewed');
    fire('click');
    fire('submit');
    expect(tracked()).toEqual([['cart viewed', undefined]]);
  });

  it.each([
    ['its argument', mount.bind(undefined, 'left', 'submit')],
    ['a modifier', mount.bind(undefined, 'left', undefined, { submit: true })],
    ['`on`', mount.bind(undefined, { event: 'left', on: 'submit' })],
  ])('tracks another DOM event, named in %s', (_name, begin) => {
    const { fire, tracked } = begin();
    fire('click');
    fire('submit');
    expect(tracked()).toEqual([['left', undefined]]);
  });

  it('follows updates of event, payload and DOM event with one listener', async () => {
    const { state, fire, tracked } = mount({ event: 'viewed', payload: { n: 1 } });
    for (const value of [
      { event: 'viewed', payload: { n: 2 } },
      { event: 'seen', payload: { n: 3 } },
      { event: 'seen', on: 'submit' },
    ]) {
      state.value = { value, isThere: true };
      await nextTick();
      fire('click');
    }
    fire('submit');
    expect(tracked()).toEqual([
      ['viewed', { n: 2 }],
      ['seen', { n: 3 }],
      ['seen', undefined],
    ]);
  });

  it('tracks nothing after the element is removed', async () => {
    const { state, fire, tracked } = mount('viewed');
    state.value = { value: 'viewed', isThere: false };
    await nextTick();
    fire('click');
    expect(tracked()).toEqual([]);
  });

  it.each([
    ['once', undefined, { once: true }],
    ['prevent', 'submit', { prevent: true }],
    ['enter', 'keyup', { enter: true }],
    ['enter', undefined, { enter: true }],
    ['esc', undefined, { esc: true, keyup: true }],
    ['page-down', undefined, { 'page-down': true }],
    ['s', undefined, { s: true }],
    ['f2', undefined, { f2: true }],
    ['13', undefined, { 13: true }],
    ['middle', undefined, { middle: true }],
    ['ctrl', 'click', { ctrl: true }],
    ['exact', undefined, { exact: true }],
    ['submit', undefined, { click: true, submit: true }],
  ])('emits an error for the modifier %s', (wrong, arg, modifiers: Record<string, boolean>) => {
    const use = vi.spyOn(tracker, 'use');
    mount('left', arg, modifiers);
    // A tracker reports what a plugin throws. The one of this test is of a server, and silent.
    expect(use.mock.calls[0]?.[0]).toThrow(`v-clew: expected the name of one DOM event, found the modifier ${wrong}`);
  });

  it.each([
    // Keys of a keyboard have these names, too.
    ['cancel', undefined, { cancel: true }],
    ['copy', undefined, { copy: true }],
    ['pause', undefined, { pause: true }],
    ['select', undefined, { select: true }],
    ['mouseenter', undefined, { mouseenter: true }],
    // Events of custom elements.
    ['sl-change', undefined, { 'sl-change': true }],
    ['delete', 'delete', {}],
  ])('tracks the event %s without an error', (type, arg, modifiers: Record<string, boolean>) => {
    const use = vi.spyOn(tracker, 'use');
    const { fire, tracked } = mount('left', arg, modifiers);
    fire(type);
    expect(tracked()).toEqual([['left', undefined]]);
    expect(use).not.toHaveBeenCalled();
  });

  it('leaves errors to the tracker, and throws nothing', () => {
    const { fire, tracked } = mount(undefined);
    fire('click');
    expect(tracked()).toEqual([[undefined, undefined]]);
  });
});

/** The parts of a DOM that Vue's renderer needs: elements that take listeners. */
class TestNode extends EventTarget {
  children: TestNode[] = [];
  parent: TestNode | null = null;
}

const detach = (node: TestNode) => {
  if (node.parent) node.parent.children = node.parent.children.filter((child) => child !== node);
  node.parent = null;
};

const nodeOptions: Parameters<typeof createRenderer<TestNode, TestNode>>[0] = {
  createElement: () => new TestNode(),
  createText: () => new TestNode(),
  createComment: () => new TestNode(),
  insert(child, parent) {
    parent.children.push(child);
    child.parent = parent;
  },
  remove: detach,
  parentNode: ({ parent }) => parent,
  nextSibling: () => null,
  setText: () => {},
  setElementText: () => {},
  patchProp: () => {},
};
