import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from '@playwright/test';
import { createServer } from 'vite';
import { blocksOf, root } from '../test/docs/markdown.ts';
import { deadUrl } from '../test/upstream.ts';

const nameIn = (text: string) => /^(?:\/\/|<!--) ([\w./-]+\.\w+)(?: -->)?\n/.exec(text)?.[1];

/** The files of a quick start as a reader writes them, with another port than 3000, in a folder that has the package. */
const writeFiles = async (page: string, port: string) => {
  await mkdir(join(root, 'test-results'), { recursive: true });
  const folder = await mkdtemp(join(root, 'test-results/start-'));
  await mkdir(join(folder, 'node_modules'));
  await symlink(root, join(folder, 'node_modules/clew'));
  for (const { text } of blocksOf(page)) {
    const name = nameIn(text);
    if (!name) continue;
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text.replaceAll('3000', port));
  }
  return folder;
};

/** Runs a server of the page, and returns what it prints. */
const runServer = (folder: string, file: string) => {
  const child = spawn(process.execPath, [file], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.on('data', (chunk) => {
    printed += chunk;
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  return {
    printed: () => printed,
    async end() {
      child.kill();
      await ended;
    },
  };
};

/** The files of Vite's template that the page does not show. */
const TEMPLATES: Record<string, Record<string, string>> = {
  'docs/start-react.md': {
    'index.html': '<div id="root"></div><script type="module" src="/src/main.tsx"></script>',
    'src/main.tsx': `import { createRoot } from 'react-dom/client';
      import App from './App.tsx';
      createRoot(document.getElementById('root')!).render(<App />);`,
  },
  'docs/start-vue.md': {
    'index.html': '<div id="app"></div><script type="module" src="/src/main.ts"></script>',
    'src/main.ts': "import { createApp } from 'vue'; import App from './App.vue'; createApp(App).mount('#app');",
  },
};

for (const page of ['docs/start-html.md', ...Object.keys(TEMPLATES)]) {
  test(`${page} leads to an event that the relay prints`, { tag: '@long' }, async ({ page: tab }) => {
    const { port } = new URL(await deadUrl());
    const folder = await writeFiles(page, port);
    const template = TEMPLATES[page];
    for (const [name, text] of Object.entries(template ?? {})) await writeFile(join(folder, name), text);
    const server = runServer(folder, template ? 'relay.mjs' : 'server.mjs');
    const vite =
      template && (await createServer({ root: folder, logLevel: 'error', server: { host: '127.0.0.1', port: 0 } }));
    try {
      await vite?.listen();
      const messages: string[] = [];
      tab.on('console', (message) => messages.push(message.text()));
      const address = vite?.resolvedUrls?.local[0] ?? `http://127.0.0.1:${port}/`;
      await expect
        .poll(() =>
          fetch(address).then(
            ({ ok }) => ok,
            () => false,
          ),
        )
        .toBe(true);
      await tab.goto(address);
      await tab.getByRole('button', { name: 'Sign up' }).click();
      await expect.poll(() => messages.join('\n')).toContain('clew: delivered');
      await expect
        .poll(server.printed)
        .toMatch(/^\/api\/events\/batch\/ .*"event":"signup".*"payload":\{"plan":"pro"\}/m);
    } finally {
      await vite?.close();
      await server.end();
      await rm(folder, { recursive: true });
    }
  });
}
