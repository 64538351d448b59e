import { createClew } from 'clew/vue';
import { createApp } from 'vue';
import '../../shared/look.css';
import App from './App.vue';
import { router } from './router.ts';
import { tracker } from './tracker.ts';

createApp(App).use(router).use(createClew({ tracker, router })).mount('#app');
