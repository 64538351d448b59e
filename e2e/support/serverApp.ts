import { cp, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { deadUrl } from '../../test/upstream.ts';
import type { Demo } from './demo.ts';
import { emptyFolder, environment, packClew, runCommands, startCommand } from './npmApp.ts';

/** The demo apps with a server of their own, in which the relay is a route. Each with the oldest Node that it runs on. */
export const SERVER_APPS = { next: '20.9', nuxt: '22.19' } as const;
export type ServerAppName = keyof typeof SERVER_APPS;

export interface ServerApp {
  readonly address: string;
  stop(): Promise<void>;
}

const isSource = (path: string) => !['node_modules', '.next', '.nuxt', '.output'].includes(basename(path));
const root = join(import.meta.dirname, '../..');

const isUp = (address: string) =>
  fetch(address).then(
    ({ ok }) => ok,
    () => false,
  );

/** Installs a demo app as its user would, from the packed package, builds it, and starts it before the demo's service. */
export const startServerApp = async (name: ServerAppName, demo: Demo): Promise<ServerApp> => {
  const place = await emptyFolder();
  const remove = () => rm(place, { recursive: true, force: true, maxRetries: 5 });
  const folder = join(place, 'demo', name);
  try {
    for (const part of [name, 'shared'])
      await cp(join(root, 'demo', part), join(place, 'demo', part), { recursive: true, filter: isSource });
    // The app's package.json names the tarball there.
    await packClew(place);
    const { origin: address, port } = new URL(await deadUrl());
    const env = await environment(SERVER_APPS[name]);
    // As on a build server: the service's address and key are only there when the app runs.
    await runCommands('npm install --no-package-lock\nnpm run build', folder, env);
    const service = { BASE_URL: demo.address, API_KEY: 'demo-key' };
    const server = startCommand('npm start', folder, { ...env, ...service, HOST: '127.0.0.1', PORT: port });
    const stop = async () => {
      await server.end();
      await remove();
    };
    for (let tries = 0; !(await isUp(address)); tries++) {
      if (tries === 200) {
        await stop();
        throw new Error(`${name} did not start: ${server.printed()}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return { address, stop };
  } catch (error) {
    await remove();
    throw error;
  }
};
