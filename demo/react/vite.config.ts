import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  base: '/react/',
  plugins: [react()],
  // The folder that both apps share is outside of this one.
  server: {
    fs: { allow: ['..'] },
    proxy: { '^/clew/': 'http://127.0.0.1:8787', '/@fontsource-variable': 'http://127.0.0.1:8787' },
  },
});
