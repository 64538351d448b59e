import { fileURLToPath } from 'node:url';

const shared = fileURLToPath(new URL('../shared', import.meta.url));

export default defineNuxtConfig({
  compatibilityDate: '2026-01-01',
  telemetry: false,
  css: [`${shared}/look.css`],
  app: { head: { htmlAttrs: { lang: 'en' } } },
  // What the apps share is beside them.
  vite: { server: { fs: { allow: [shared] } } },
});
