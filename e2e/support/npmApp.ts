import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const exec = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');

/** How long (ms) npm may take, and a build. */
export const LONGEST = 300_000;

/** Why npm cannot install a framework here, if it cannot. On CI that would hide a fault. */
export const whyNot = async (): Promise<string | undefined> => {
  try {
    await exec('npm', ['view', 'uuid', 'version', '--fetch-retries=1'], { timeout: LONGEST });
    return undefined;
  } catch (error) {
    if (process.env.CI) throw error;
    return 'npm reaches no registry here';
  }
};

const isNewer = (version: string, than: string): boolean => version.localeCompare(than, 'en', { numeric: true }) >= 0;

/** The folder of a Node of at least this version. Frameworks need newer ones than this package, and npm has them. */
const folderOfNode = async (version: string): Promise<string> => {
  if (isNewer(process.versions.node, version)) return dirname(process.execPath);
  const [major] = version.split('.');
  const folder = join(root, 'test-results', `node-${major}`);
  const bin = join(folder, 'node_modules/node/bin');
  if (!existsSync(bin)) {
    await mkdir(join(root, 'test-results'), { recursive: true });
    const made = await mkdtemp(`${folder}-`);
    await exec('npm', ['install', '--prefix', made, `node@${major}`], { timeout: LONGEST });
    // Another worker may have been faster.
    await rename(made, folder).catch(() => rm(made, { recursive: true, force: true }));
  }
  return bin;
};

/** The environment of commands in an app. The commands ask no questions, and send no telemetry. */
export const environment = async (node: string): Promise<NodeJS.ProcessEnv> => {
  // Playwright sets these variables for its own processes only.
  const { NODE_OPTIONS: _, NODE_ENV: __, FORCE_COLOR: ___, ...env } = process.env;
  return {
    ...env,
    PATH: [await folderOfNode(node), env.PATH].join(delimiter),
    npm_config_yes: 'true',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    ASTRO_TELEMETRY_DISABLED: '1',
    NEXT_TELEMETRY_DISABLED: '1',
    NUXT_TELEMETRY_DISABLED: '1',
    NG_CLI_ANALYTICS: 'false',
    NO_COLOR: '1',
  };
};

/** An empty folder outside of this repository, whose packages an app would find otherwise. */
export const emptyFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'clew-app-'));

/** The package as npm would publish it: the path of the tarball. */
export const packClew = async (folder: string): Promise<string> => {
  const { stdout } = await exec('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
  });
  return join(folder, JSON.parse(stdout)[0].filename);
};

/** Runs commands of a shell in a folder, and returns what they print. */
export const runCommands = async (commands: string, cwd: string, env: NodeJS.ProcessEnv): Promise<string> => {
  const running = exec('bash', ['-ec', commands], { cwd, env, timeout: LONGEST, maxBuffer: 2 ** 26 });
  running.child.stdin?.end();
  try {
    return (await running).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${commands}\n${stdout}\n${stderr}`, { cause: error });
  }
};

/** A command that goes on, such as a server, with all processes that it starts. */
export interface Started {
  printed(): string;
  end(): Promise<void>;
}

export const startCommand = (command: string, cwd: string, env: NodeJS.ProcessEnv): Started => {
  const child = spawn('bash', ['-c', command], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const printed: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => printed.push(String(chunk)));
  const ended = new Promise((end) => child.once('close', end));
  return {
    printed: () => printed.join(''),
    async end() {
      if (child.exitCode === null && child.pid) process.kill(-child.pid, 'SIGTERM');
      await ended;
    },
  };
};
