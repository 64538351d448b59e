import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { Engine, Privacy } from './engine.ts';
import { killTree, ownerOf } from './processes.ts';
import { createSend, createTurns, type Send } from './webdriver.ts';
import { createTab } from './webkitTab.ts';

const DRIVER = '/usr/bin/WebKitWebDriver';
const APP = join(import.meta.dirname, 'webkit-app.py');

export const hasWebKit = (): boolean =>
  [DRIVER, '/usr/bin/Xvfb', '/usr/lib/python3/dist-packages/gi'].every((path) => existsSync(path));

/** A virtual display, under a free number. */
const startDisplay = async (): Promise<[display: string, xvfb: ChildProcess]> => {
  const xvfb = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1280x800x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const [number] = await once(xvfb.stdio[3] as Readable, 'data');
  return [`:${String(number).trim()}`, xvfb];
};

const findFreePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address ? address.port : 0;
};

const startDriver = async (display: string): Promise<[send: Send, driver: ChildProcess]> => {
  const port = await findFreePort();
  const driver = spawn(DRIVER, ['--host=127.0.0.1', `--port=${port}`], {
    stdio: 'ignore',
    env: {
      ...process.env,
      DISPLAY: display,
      GDK_BACKEND: 'x11',
      NO_AT_BRIDGE: '1',
      // There is no graphics card.
      WEBKIT_DISABLE_COMPOSITING_MODE: '1',
      WEBKIT_DISABLE_DMABUF_RENDERER: '1',
    },
  });
  const send = createSend(`http://127.0.0.1:${port}`);
  while (!(await send('GET', '/status').catch(() => undefined))) await pause(20);
  return [send, driver];
};

export const openWebKit = async (profile: string, privacy?: Privacy): Promise<Engine> => {
  if (privacy === 'blocked') throw new Error('WebKitGTK lets nobody block storage');
  const [display, xvfb] = await startDisplay();
  const [sendToDriver, driver] = await startDriver(display);
  const { sessionId } = await sendToDriver<{ sessionId: string }>('POST', '/session', {
    capabilities: {
      alwaysMatch: {
        timeouts: { script: 30_000, pageLoad: 30_000 },
        'webkitgtk:browserOptions': {
          binary: APP,
          args: ['--automation', `--data=${profile}`, ...(privacy ? ['--private'] : [])],
        },
      },
    },
  });
  const send: Send = (method, path, body) => sendToDriver(method, `/session/${sessionId}${path}`, body);
  const inTurn = createTurns();
  const owner = ownerOf(profile);
  const anchor = await send<string>('GET', '/window');
  let isAlive = true;

  const inWindow =
    (handle: string): Send =>
    (...command) =>
      inTurn(async () => {
        await send('POST', '/window', { handle });
        return send(...command);
      });
  const closeWindow = (handle: string) => inWindow(handle)<void>('DELETE', '/window');
  const kill = async () => {
    isAlive = false;
    if (owner !== undefined) await killTree(owner);
    driver.kill('SIGKILL');
    xvfb.kill('SIGKILL');
  };

  return {
    name: 'webkit',
    isAlive: () => isAlive,
    async newTab() {
      const { handle } = await inWindow(anchor)<{ handle: string }>('POST', '/window/new', { type: 'tab' });
      return createTab(inWindow(handle), () => closeWindow(handle));
    },
    async closeTabs() {
      const handles = await inTurn(() => send<string[]>('GET', '/window/handles'));
      // The app ends a tab a moment after it was closed. Until then, the driver still lists it.
      const isGone = (error: unknown) => String(error).includes('no such window');
      for (const handle of handles.filter((other) => other !== anchor))
        await closeWindow(handle).catch((error) => (isGone(error) ? undefined : Promise.reject(error)));
    },
    kill,
    async quit() {
      if (isAlive && owner !== undefined) process.kill(owner, 'SIGTERM');
      // Ending the session would kill it, which is not what a user does.
      while (isAlive && ownerOf(profile) !== undefined) await pause(50);
      await kill();
    },
  };
};
