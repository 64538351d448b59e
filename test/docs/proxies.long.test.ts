import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createRelay, toNodeHandler } from '../../src/relay.ts';
import { event } from '../mounts/events.ts';
import { deadUrl } from '../upstream.ts';
import { blocksOf, root } from './markdown.ts';

/** A proxy of Debian: how it starts in a folder, with the page's lines in a configuration of its own. */
interface Proxy {
  program: string;
  mark: string;
  configOf(lines: string, port: string, folder: string, program: string): string;
  argsOf(config: string, folder: string): string[];
}

const PROXIES: Proxy[] = [
  {
    program: 'nginx',
    mark: 'location /clew/',
    configOf: (lines, port, folder) => `daemon off; pid ${folder}/pid; error_log stderr;
      events {}
      http {
        access_log off;
        ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join('\n')}
        server { listen 127.0.0.1:${port}; ${lines} }
      }`,
    argsOf: (config, folder) => ['-p', folder, '-e', 'stderr', '-c', config],
  },
  {
    program: 'caddy',
    mark: 'reverse_proxy',
    configOf: (lines, port) => `{
      admin off
    }
    ${lines.replace('example.com', `http://127.0.0.1:${port}`)}`,
    argsOf: (config) => ['run', '--adapter', 'caddyfile', '--config', config],
  },
  {
    program: 'apache2',
    mark: 'ProxyPass',
    configOf: (lines, port, folder, program) => `ServerName localhost
      User www-data
      Group www-data
      Listen 127.0.0.1:${port}
      PidFile ${folder}/pid
      DefaultRuntimeDir ${folder}
      ErrorLog ${folder}/error.log
      DocumentRoot ${folder}
      ${['mpm_event', 'authz_core', 'proxy', 'proxy_http']
        .map((name) => `LoadModule ${name}_module ${join(dirname(program), '../lib/apache2/modules')}/mod_${name}.so`)
        .join('\n')}
      ${lines}`,
    argsOf: (config) => ['-X', '-f', config],
  },
];

const FOLDERS = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/bin'];
const findProgram = (name: string) => FOLDERS.map((folder) => join(folder, name)).find((path) => existsSync(path));

describe.each(PROXIES)('$program with the lines of docs/proxies.md', ({ program: name, mark, configOf, argsOf }) => {
  const program = findProgram(name);

  it.runIf(program)('passes a gzip batch on, and the relay finds the address of the client', async () => {
    const bodies: string[] = [];
    const relay = createRelay({
      forward: async ({ body }) => {
        bodies.push(body);
        return new Response(null, { status: 201 });
      },
      limits: { trustedProxies: 1 },
      enrich: { address: { field: 'address', isWhole: true } },
    });
    const server = createServer(toNodeHandler(relay)).listen(0, '127.0.0.1');
    mkdirSync(join(root, 'test-results'), { recursive: true });
    const folder = mkdtempSync(join(root, 'test-results/proxy-'));
    const { port } = new URL(await deadUrl());
    const lines = blocksOf('docs/proxies.md').find(({ text }) => text.includes(mark))?.text ?? '';
    const config = join(folder, 'proxy.conf');
    const relayPort = `${(server.address() as AddressInfo).port}`;
    writeFileSync(config, configOf(lines.replaceAll('8080', relayPort), port, folder, program ?? ''));
    const child = spawn(program ?? '', argsOf(config, folder), {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, HOME: folder },
    });
    let errors = '';
    child.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    const ended = new Promise((resolve) => child.once('close', resolve));
    try {
      const post = () =>
        fetch(`http://127.0.0.1:${port}/clew/api/events/batch/`, {
          method: 'POST',
          headers: {
            'Content-Type': 'application/json',
            'Content-Encoding': 'gzip',
            'X-Forwarded-For': '192.0.2.1',
          },
          body: gzipSync(JSON.stringify({ batch: [event('signup')] })),
        }).then(({ status, headers }) => [status, headers.has('clew-relay')], String);
      await expect.poll(post, { message: errors }).toEqual([201, true]);
      const { batch } = JSON.parse(bodies[0] ?? '');
      expect(batch).toMatchObject([{ event: 'signup', payload: { address: '127.0.0.1' } }]);
    } finally {
      child.kill();
      await ended;
      server.close();
      await relay.close();
      rmSync(folder, { recursive: true });
    }
  });
});
