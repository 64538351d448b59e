import { execFile, spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { deadUrl } from '../../../test/upstream.ts';

/** Frameworks whose own command builds the app. No other test needs the large packages of these frameworks. */
export type Framework = 'astro' | 'next';

interface Kind {
  readonly packages: readonly string[];
  /** Arguments of Node in the app's folder. */
  readonly build: readonly string[];
  /** Arguments of Node to start the app on a port. Without them, the built files are all. */
  readonly start?: (port: string) => readonly string[];
}

const NEXT = 'node_modules/next/dist/bin/next';
const kinds: Record<Framework, Kind> = {
  astro: { packages: ['astro@5.18.2'], build: ['node_modules/astro/astro.js', 'build'] },
  next: {
    packages: ['next@16.4.6', 'react@19.3.1', 'react-dom@19.3.1'],
    build: [NEXT, 'build'],
    start: (port) => [NEXT, 'start', '--hostname', '127.0.0.1', '--port', port],
  },
};

/** How long (ms) npm may take, and a build. */
const LONGEST = 300_000;

const root = join(import.meta.dirname, '../../..');
const run = promisify(execFile);
const env = { ...process.env, ASTRO_TELEMETRY_DISABLED: '1', NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' };

/** An app that is built. */
export interface Built {
  readonly folder: string;
  /** Where it answers, if it has a server. */
  readonly origin: string;
  close(): Promise<void>;
}

/** Installs the app's packages, and clew as an app has it. */
const install = async (folder: string, { packages }: Kind) => {
  const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const own = Object.entries(dependencies).map(([name, range]) => `${name}@${range}`);
  const options = ['--no-audit', '--no-fund', '--no-package-lock', '--fetch-retries=1', '--prefix', folder];
  await run('npm', ['install', ...options, ...packages, ...own], { cwd: folder, env, timeout: LONGEST });
  for (const part of ['dist', 'package.json'])
    await cp(join(root, part), join(folder, 'node_modules/clew', part), { recursive: true });
};

const answers = async (origin: string): Promise<void> => {
  while (!(await fetch(origin).catch(() => undefined))) await new Promise((resolve) => setTimeout(resolve, 50));
};

/**
 * Builds the app in a folder of its own, and starts it.
 *
 * @returns the reason as a sentence, if npm cannot install the framework here
 */
export const openBuilt = async (framework: Framework): Promise<Built | string> => {
  const kind = kinds[framework];
  const folder = await mkdtemp(join(tmpdir(), `clew-${framework}-`));
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 5 });
  try {
    await cp(join(import.meta.dirname, 'built', framework), folder, { recursive: true });
    try {
      await install(folder, kind);
    } catch (error) {
      if (process.env.CI) throw error;
      await remove();
      return `page views of ${framework}: skipped, because npm cannot install ${kind.packages.join(', ')} here`;
    }
    await run(process.execPath, kind.build, { cwd: folder, env, timeout: LONGEST });
    if (!kind.start) return { folder, origin: '', close: remove };
    const { origin, port } = new URL(await deadUrl());
    const server = spawn(process.execPath, kind.start(port), {
      cwd: folder,
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const ended = new Promise((resolve) => server.once('close', resolve));
    const close = async () => {
      server.kill();
      await ended;
      await remove();
    };
    const isUp = await Promise.race([answers(origin).then(() => true), ended.then(() => false)]);
    if (!isUp) throw new Error(`${framework} did not start`);
    return { folder, origin, close };
  } catch (error) {
    await remove();
    throw error;
  }
};
