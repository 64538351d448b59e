import { fileURLToPath } from 'node:url';

const shared = fileURLToPath(new URL('../shared', import.meta.url));

export default defineNuxtConfig({
  compatibilityDate: '2026-01-01',
  telemetry: false,
  css: [`${shared}/look.css`],
  app: { head: { htmlAttrs: { lang: 'en' } } },
  // The folder of shared files is beside the app.
  vite: { server: { fs: { allow: [shared] } } },
});
