import { createClew } from 'clew/vue';
import { createApp, type DefineComponent, defineComponent, h, KeepAlive } from 'vue';
import { createRouter, createWebHashHistory, createWebHistory, RouterLink, RouterView } from 'vue-router';
import { expose, tracker } from './tracker.ts';
import { loadData, titleOf } from './view.ts';

const id = location.pathname.split('/')[1];
const isHash = id === 'vue-hash';

const pageOf = (name: string) => ({
  path: `/${name}`,
  component: defineComponent({ name, render: () => h('h1', titleOf(name)) }),
  beforeEnter: loadData,
});
const router = createRouter({
  history: isHash ? createWebHashHistory(`/${id}`) : createWebHistory(`/${id}/`),
  routes: [...['one', 'two', 'three'].map(pageOf), { path: '/old', redirect: '/three' }],
});
router.afterEach(({ path }) => {
  document.title = titleOf(path);
});

const links = () =>
  h(
    'nav',
    ['one', 'two', 'three', 'old'].map((name) => h(RouterLink, { id: name, to: `/${name}` }, () => name)),
  );
const kept = () =>
  h(RouterView, null, {
    default: ({ Component }: { Component?: DefineComponent }) => h(KeepAlive, [Component && h(Component)]),
  });
const App = { render: () => h('div', [links(), id === 'vue-kept' ? kept() : h(RouterView)]) };

createApp(App).use(router).use(createClew({ tracker, router })).mount('#app');
expose();
