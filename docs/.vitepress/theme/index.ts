// Without fonts: no page waits for a font, or moves when it has loaded.

import { Content } from 'vitepress';
import theme, { VPHomeContent, VPHomeHero } from 'vitepress/theme-without-fonts';
import { type App, h } from 'vue';
import './style.css';

/** The start page. The theme's own has no `main` landmark for screen readers. */
const Home = () => h('main', [h(VPHomeHero), h(VPHomeContent, () => h(Content))]);

export default {
  extends: theme,
  enhanceApp: ({ app }: { app: App }) => app.component('home', Home),
};
