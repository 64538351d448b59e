import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, extname, join, relative, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import type { Context } from 'hono';
import { getMimeType } from 'hono/utils/mime';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '..');

export type AppName = 'react' | 'vue';

/** A demo app in a folder of its own, outside of this repository. */
export interface InstalledApp {
  /** Where its package.json is. */
  folder: string;
  remove(): Promise<void>;
}

/**
 * Installs a demo app as its user would: clew from the tarball that `npm pack` makes of this package as it is built. All
 * other packages come from this repository's node_modules, so that it needs no registry.
 */
export const installApp = async (name: AppName): Promise<InstalledApp> => {
  const place = await realpath(await mkdtemp(join(tmpdir(), 'clew-app-')));
  const folder = join(place, 'demo', name);
  const clew = join(folder, 'node_modules/clew');
  const remove = () => rm(place, { recursive: true, force: true, maxRetries: 5 });
  const isSource = (path: string) => !['node_modules', 'dist'].includes(basename(path));
  for (const part of [name, 'shared'])
    await cp(join(root, 'demo', part), join(place, 'demo', part), { recursive: true, filter: isSource });
  await symlink(join(root, 'node_modules'), join(place, 'node_modules'), 'junction');
  await mkdir(clew, { recursive: true });
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', place], {
    cwd: root,
  });
  const [{ filename }] = JSON.parse(stdout);
  await run('tar', ['-xzf', join(place, filename), '-C', clew, '--strip-components=1']);
  return { folder, remove };
};

/** Builds an app as its `npm run build` does, and returns the built files by their path. */
const buildApp = async (name: AppName): Promise<Map<string, Buffer<ArrayBuffer>>> => {
  const app = await installApp(name);
  try {
    await run(process.execPath, [join(root, 'node_modules/vite/bin/vite.js'), 'build'], { cwd: app.folder });
    const dist = join(app.folder, 'dist');
    const entries = await readdir(dist, { recursive: true, withFileTypes: true });
    const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    const read = async (path: string) => [relative(dist, path).replaceAll(sep, '/'), await readFile(path)] as const;
    return new Map(await Promise.all(paths.map(read)));
  } finally {
    await app.remove();
  }
};

/** Serves an app below `/<name>/`, and builds it at the first request. Every path without an extension is a route of the app. */
export const serveApp = (name: AppName) => {
  let building: ReturnType<typeof buildApp> | undefined;
  return async (c: Context) => {
    building ??= buildApp(name);
    const files = await building.catch((error) => {
      building = undefined;
      throw error;
    });
    const asked = c.req.path.slice(`/${name}/`.length);
    const path = extname(asked) ? asked : 'index.html';
    const file = files.get(path);
    return file ? c.body(file, 200, { 'Content-Type': getMimeType(path) ?? 'text/plain' }) : c.notFound();
  };
};
