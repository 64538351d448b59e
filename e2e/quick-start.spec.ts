import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test as base, expect, type Page } from '@playwright/test';
import { deadUrl } from '../test/upstream.ts';
import { emptyFolder, environment, LONGEST, packClew, runCommands, startCommand, whyNot } from './support/npmApp.ts';
import { readQuickStart } from './support/quickStart.ts';

interface Stack {
  /** The package whose version of Node the page has to name. */
  readonly framework: string;
  /** Where the app answers, if its own server does. */
  readonly hasServer: boolean;
  /** Shows that the page's code is right for the framework's compiler, too. */
  readonly check?: string;
}

const STACKS: Record<string, Stack> = {
  html: { framework: 'clew', hasServer: false },
  react: { framework: 'vite', hasServer: true, check: 'npm run build' },
  vue: { framework: 'vite', hasServer: true, check: 'npm run build' },
  // The template of Next.js asks for a font from the network in a build. The types that a build checks are there without one.
  next: { framework: 'next', hasServer: true, check: 'npx tsc --noEmit' },
  nuxt: { framework: 'nuxt', hasServer: true, check: 'npx nuxt build' },
  // A build needs the adapter of a host.
  astro: { framework: 'astro', hasServer: true },
  sveltekit: { framework: 'vite', hasServer: true, check: 'npm run check' },
  angular: { framework: '@angular/cli', hasServer: true, check: 'npm run build' },
};

const test = base.extend<object, { tarball: string; reason: string | undefined }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright asks for a pattern
  reason: [async ({}, use) => use(await whyNot()), { scope: 'worker' }],
  tarball: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright asks for a pattern
    async ({}, use) => {
      const folder = await emptyFolder();
      await use(await packClew(folder));
      await rm(folder, { recursive: true });
    },
    { scope: 'worker' },
  ],
});

test.describe.configure({ mode: 'parallel' });

const isUp = (address: string) =>
  fetch(address).then(
    ({ ok }) => ok,
    () => false,
  );

/** A development server loads the page anew when it first sees a package, so an early click may do nothing. */
const clickUntilDelivered = async (page: Page, address: string) => {
  const messages: string[] = [];
  page.on('console', (message) => messages.push(message.text()));
  await page.goto(address);
  await expect(async () => {
    await page.getByRole('button', { name: 'Sign up' }).click();
    await expect.poll(() => messages.join('\n'), { timeout: 5_000 }).toContain('clew: delivered');
  }).toPass({ timeout: 60_000 });
};

for (const [name, { framework, hasServer, check }] of Object.entries(STACKS)) {
  const page = `docs/start-${name}.md`;
  test(`${page} leads from an empty folder to an event that a terminal shows`, { tag: '@long' }, async ({
    page: tab,
    tarball,
    reason,
  }) => {
    test.skip(reason !== undefined, reason);
    test.setTimeout(3 * LONGEST);
    const start = readQuickStart(page);
    const env = await environment(start.node);
    const folder = await emptyFolder();
    const servers: ReturnType<typeof startCommand>[] = [];
    try {
      expect(start.commands).toMatch(/^npm install .*\bclew$/m);
      const commands = start.commands.replace(/^(npm install .*)\bclew$/m, `$1${tarball}`);
      const app = (await runCommands(`${commands}\npwd`, folder, env)).trim().split('\n').at(-1) ?? '';
      const { engines } = JSON.parse(await readFile(join(app, 'node_modules', framework, 'package.json'), 'utf8'));
      expect(engines.node).toMatch(new RegExp(`(\\^|>=)${start.node.replaceAll('.', '\\.')}\\b`));

      const { port } = new URL(await deadUrl());
      const { port: own } = new URL(await deadUrl());
      for (const [path, text] of Object.entries(start.files)) {
        await mkdir(dirname(join(app, path)), { recursive: true });
        await writeFile(join(app, path), text.replaceAll('3000', port));
      }
      for (const command of start.servers) {
        const isApp = hasServer && !command.startsWith('node ');
        const dashes = command.startsWith('npm ') && !command.includes(' -- ') ? ' --' : '';
        servers.push(startCommand(isApp ? `${command}${dashes} --port ${own}` : command, app, env));
      }
      const address = `http://localhost:${hasServer ? own : port}/`;
      await expect.poll(() => isUp(address), { timeout: 60_000 }).toBe(true);
      await clickUntilDelivered(tab, address);
      await expect.poll(() => servers.map(({ printed }) => printed()).join('\n')).toMatch(start.shown);
      if (check) await runCommands(check, app, env);
    } catch (error) {
      console.log(servers.map(({ printed }) => printed()).join('\n'));
      throw error;
    } finally {
      await Promise.all(servers.map(({ end }) => end()));
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  });
}
