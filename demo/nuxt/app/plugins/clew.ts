import { createClew } from 'clew/vue';
import { tracker } from '../tracker';

/** On the server, the tracker does nothing, and the directive adds nothing to the HTML. */
export default defineNuxtPlugin(({ vueApp }) => {
  vueApp.use(createClew({ tracker, router: useRouter() }));
});
