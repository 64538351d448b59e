import { createRouter, createWebHistory } from 'vue-router';
import { member } from './member.ts';
import Account from './pages/Account.vue';
import Club from './pages/Club.vue';
import YarnPage from './pages/YarnPage.vue';
import Yarns from './pages/Yarns.vue';

export const router = createRouter({
  history: createWebHistory(import.meta.env.BASE_URL),
  routes: [
    { path: '/', component: Yarns, meta: { title: 'Yarns' } },
    { path: '/yarns/:id', component: YarnPage, meta: { title: 'Yarn' } },
    { path: '/club', component: Club, meta: { title: 'Club' } },
    { path: '/account', component: Account, meta: { title: 'Account' }, beforeEnter: () => !!member.value || '/club' },
    { path: '/join', redirect: '/club' },
    { path: '/:unknown(.*)', redirect: '/' },
  ],
});

router.afterEach(({ meta }) => {
  document.title = `${meta.title} · Ariadne Yarns`;
});
