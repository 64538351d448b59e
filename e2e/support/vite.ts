import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createServer } from 'vite';
import { type AppName, installApp } from '../../demo/apps.ts';
import { useReact18 } from '../../test/react18.ts';
import type { Demo } from './demo.ts';

/** A copy of a demo app under development: not minified, in strict mode, and reloaded hot when a file of it changes. */
export const startVite = async (demo: Demo, name: AppName, react?: 18 | 19) => {
  const app = await installApp(name);
  if (react === 18) await useReact18(app);
  const edit = async (path: string, from: string, to: string) => {
    const text = await readFile(join(app.folder, path), 'utf8');
    if (!text.includes(from)) throw new Error(`${path} has no ${from}`);
    // Saved in one step, as editors do, because a file that is written in place is empty for a moment. Vite may serve that.
    const saved = join(app.folder, 'node_modules', 'saved');
    await writeFile(saved, text.replace(from, to));
    await rename(saved, join(app.folder, path));
  };
  const server = await createServer({
    root: app.folder,
    logLevel: 'error',
    server: { host: '127.0.0.1', port: 0, proxy: { '/clew': demo.address, '/@fontsource-variable': demo.address } },
  });
  await server.listen();
  return {
    /** Where the app is. */
    url: server.resolvedUrls?.local[0] ?? '',
    /** Replaces the first `from` in a file of the copy. */
    edit,
    async stop() {
      await server.close();
      await app.remove();
    },
  };
};
