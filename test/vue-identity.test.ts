// @module-tag promise
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import {
  type Component,
  computed,
  createRenderer,
  createSSRApp,
  h,
  KeepAlive,
  nextTick,
  onBeforeUnmount,
  onMounted,
  reactive,
  ref,
  shallowRef,
} from 'vue';
import { renderToString } from 'vue/server-renderer';
import { createTracker } from '../src/index.ts';
import { createTestTracker, type TestTracker } from '../src/testing.ts';
import { type ClewSession, createClew, useIdentity, useTracker } from '../src/vue.ts';

type Session = string | ClewSession | null | undefined;
const ann = { primaryKey: 'ann' };
const bob = { primaryKey: 'bob' };

let test: TestTracker;
beforeEach(() => {
  vi.stubGlobal('window', new EventTarget());
  test = createTestTracker();
});
afterEach(() => {
  test.tracker.stop();
  vi.unstubAllGlobals();
});

/** As much of a DOM as Vue's renderer needs. */
interface TestNode {
  parent?: TestNode | null;
}
const { createApp } = createRenderer<TestNode, TestNode>({
  createElement: () => ({}),
  createText: () => ({}),
  createComment: () => ({}),
  insert: (child, parent) => void Object.assign(child, { parent }),
  remove: (child) => void Object.assign(child, { parent: null }),
  parentNode: ({ parent }) => parent ?? null,
  nextSibling: () => null,
  setText: () => {},
  setElementText: () => {},
  patchProp: () => {},
});

const mount = (root: Component) => {
  const app = createApp(root).use(createClew({ tracker: test.tracker }));
  app.mount({});
  return app;
};
/** Mounts an app that uses the session. */
const follow = (session: Parameters<typeof useIdentity>[0], render: () => unknown = () => null) =>
  mount({
    setup() {
      useIdentity(session);
      return render;
    },
  });
const seen = () => test.tracker.track('seen');

/** To whom each event belongs, as the service sees it. */
const arrived = async () => {
  await test.tracker.flush();
  const owners = new Map<string, unknown>();
  for (const { correlationValue, payload } of test.events('$identify'))
    owners.set(correlationValue, (payload as { distinct_id: string }).distinct_id);
  return test.events().map(({ event, correlationValue }) => `${event} of ${owners.get(correlationValue) ?? 'nobody'}`);
};

it('useIdentity identifies, switches and resets as a ref changes', async () => {
  const session = shallowRef<Session>();
  follow(session);
  for (const next of [undefined, ann, undefined, { ...ann }, bob, null, null]) {
    session.value = next;
    await nextTick();
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

it.each<[what: string, source: (user: { id: string }) => Parameters<typeof useIdentity>[0]]>([
  ['a getter', (user) => () => ({ primaryKey: user.id })],
  ['a computed ref', (user) => computed(() => ({ primaryKey: user.id }))],
])('useIdentity follows %s', async (_what, source) => {
  const user = reactive({ id: 'ann' });
  follow(source(user));
  user.id = 'bob';
  await nextTick();
  seen();
  expect(await arrived()).toEqual(['$identify of ann', '$identify of bob', 'seen of bob']);
});

it('useIdentity takes a value that does not change', async () => {
  follow(ann);
  expect(await arrived()).toEqual(['$identify of ann']);
});

it('useIdentity follows a property that changes within the session', async () => {
  const session = ref({ primaryKey: 'ann', properties: { plan: 'free' } });
  follow(session);
  session.value.properties.plan = 'pro';
  await nextTick();
  expect(await arrived()).toEqual(['$identify of ann']);
  expect(test.upserts().map(({ properties }) => properties)).toEqual([{ plan: 'free' }, { plan: 'pro' }]);
});

it('useIdentity takes the last of several changes within a task', async () => {
  const session = shallowRef<Session>(ann);
  follow(session);
  for (const next of [null, undefined, bob]) session.value = next;
  await nextTick();
  seen();
  expect(await arrived()).toEqual(['$identify of ann', '$identify of bob', 'seen of bob']);
});

it('useIdentity identifies before the components of the customer track', async () => {
  const session = shallowRef<ClewSession>(ann);
  const Greeting = {
    props: ['name'],
    setup({ name }: { name: string }) {
      const tracker = useTracker();
      tracker.track(`${name} is set up`);
      onMounted(() => tracker.track(`${name} comes`));
      return () => null;
    },
  };
  test.tracker.identify('somebody from an earlier visit');
  follow(session, () => h(Greeting, { key: session.value.primaryKey, name: session.value.primaryKey }));
  session.value = bob;
  await nextTick();
  expect((await arrived()).slice(1)).toEqual(
    ['ann', 'bob'].flatMap((name) => [
      `$identify of ${name}`,
      `${name} is set up of ${name}`,
      `${name} comes of ${name}`,
    ]),
  );
});

it.each(['before', 'after'])(
  'useIdentity identifies first also if its component stands %s its neighbours',
  async (place) => {
    const session = shallowRef<ClewSession | null>(ann);
    const name = () => session.value?.primaryKey ?? 'a stranger';
    const Greeting = {
      props: ['name'],
      setup({ name }: { name: string }) {
        useTracker().track(`${name} is set up`);
        return () => null;
      },
    };
    const Identity = {
      setup() {
        useIdentity(session);
        return () => null;
      },
    };
    mount({
      setup: () => () => {
        const greeting = h(Greeting, { name: name(), key: name() });
        return place === 'before' ? [h(Identity), greeting] : [greeting, h(Identity)];
      },
    });
    for (const next of [bob, null]) {
      await nextTick();
      session.value = next;
    }
    await nextTick();
    const events = await arrived();
    expect(events).toContain('bob is set up of bob');
    expect(events).toContain('a stranger is set up of nobody');
  },
);

it('useIdentity takes a getter that throws for a moment', async () => {
  const isLoading = ref(true);
  const user = shallowRef<{ id: string }>();
  const app = createApp({
    setup() {
      useIdentity(() => (isLoading.value ? undefined : { primaryKey: (user.value as { id: string }).id }));
      return () => null;
    },
  });
  const onError = vi.fn();
  app.config.errorHandler = onError;
  app.use(createClew({ tracker: test.tracker })).mount({});
  await nextTick();
  isLoading.value = false;
  await nextTick();
  expect(onError).toHaveBeenCalledOnce();
  user.value = { id: 'ann' };
  await nextTick();
  expect(await arrived()).toEqual(['$identify of ann']);
});

it('useIdentity neither resets when the app unmounts nor identifies again when it mounts again', async () => {
  const session = { ...ann, properties: { plan: 'pro' } };
  follow(shallowRef(session)).unmount();
  seen();
  follow(shallowRef({ ...session }));
  seen();
  expect(await arrived()).toEqual(['$identify of ann', 'seen of ann', 'seen of ann']);
  expect(test.upserts()).toHaveLength(1);
});

it('useIdentity ends with its component', async () => {
  const session = shallowRef<Session>(ann);
  const isThere = ref(true);
  const Member = {
    setup() {
      useIdentity(session);
      return () => null;
    },
  };
  mount({ setup: () => () => (isThere.value ? h(Member) : null) });
  isThere.value = false;
  await nextTick();
  session.value = null;
  await nextTick();
  seen();
  expect(await arrived()).toEqual(['$identify of ann', 'seen of ann']);
});

it('useIdentity follows also in a component that KeepAlive has put away', async () => {
  const session = shallowRef<Session>(ann);
  const isThere = ref(true);
  let unmounted = 0;
  const Member = {
    setup() {
      useIdentity(session);
      onBeforeUnmount(() => unmounted++);
      return () => null;
    },
  };
  mount({ setup: () => () => h(KeepAlive, null, () => (isThere.value ? h(Member) : null)) });
  isThere.value = false;
  await nextTick();
  session.value = bob;
  await nextTick();
  seen();
  isThere.value = true;
  await nextTick();
  seen();
  expect(unmounted).toBe(0);
  expect(await arrived()).toEqual(['$identify of ann', '$identify of bob', 'seen of bob', 'seen of bob']);
});

it('useIdentity uses a new signature of the same customer', async () => {
  const session = shallowRef<Session>({ ...ann, signature: 'one' });
  follow(session);
  session.value = { ...ann, signature: 'two' };
  await nextTick();
  test.tracker.setProperties({ plan: 'pro' });
  expect(await arrived()).toEqual(['$identify of ann']);
  expect(test.upserts()).toMatchObject([{ signature: 'two' }]);
});

it('useIdentity on a server renders and calls nothing', async () => {
  vi.unstubAllGlobals();
  const tracker = createTracker({ baseUrl: '/clew' });
  const identify = vi.spyOn(tracker, 'identify');
  const app = createSSRApp({
    setup() {
      useIdentity(ann);
      return () => 'Hello';
    },
  });
  expect(await renderToString(app.use(createClew({ tracker })))).toBe('Hello');
  expect(identify).not.toHaveBeenCalled();
});
