// @module-tag promise
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { outputOf, type Running, start } from '../broker/process.ts';
import { itWithRedis, startRedis, useRedis } from '../redis.ts';
import { BATCH, event } from '../relay/stage.ts';
import { deadUrl, useUpstream } from '../upstream.ts';

const COMMAND = join(import.meta.dirname, '../../dist/clew-relay.js');
const READY = /clew-relay: (http:.*)\n/;
const redis = useRedis();
const upstream = useUpstream();

/** `clew-relay` as a process of its own. The command needs `npm run build`. */
const run = async (env: Record<string, string> = {}): Promise<Running> => {
  const given = { BASE_URL: upstream.url, API_KEY: 'the-secret-key', PORT: '0', ...env };
  const running = await start(process.execPath, [COMMAND], READY, given);
  onTestFinished(async () => void (await running.end('SIGKILL')));
  return running;
};
const post = async ({ ready: url }: Pick<Running, 'ready'>, batch: object[], headers: Record<string, string> = {}) => {
  const response = await fetch(url + BATCH, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ batch }),
  });
  return response.status;
};

it('starts with two variables, forwards with the key, and ends on SIGTERM', async () => {
  const relay = await run();
  expect(await post(relay, [event('a')])).toBe(201);
  expect(upstream.received[0]?.headers.authorization).toBe('Api-Key the-secret-key');
  expect(await (await fetch(`${relay.ready}/clew/health`)).json()).toMatchObject({ ready: true });
  const odd = request(`${relay.ready}/clew/health`, { headers: { Expect: 'a miracle' } }).end();
  const [answer] = await once(odd, 'response');
  expect([answer.statusCode, answer.headers['clew-relay']]).toEqual([200, '1']);
  expect(await relay.end('SIGTERM')).toBe(0);
});

it.each(['ALLOW_UNSIGNED_IDENTIFY', 'ALLOW_UNSIGNED_UPSERT'])(
  'warns at the start that %s needs no signature',
  async (name) => {
    const env = { BASE_URL: upstream.url, API_KEY: 'the-secret-key', PORT: '0', [name]: 'true' };
    const { ready, end } = await start(process.execPath, [COMMAND], /(pages need no signature)/, env);
    onTestFinished(async () => void (await end('SIGKILL')));
    expect(ready).toBe('pages need no signature');
  },
);

it.each([1, 2])('answers what is in flight before it ends after %i signals', async (signals) => {
  const relay = await run();
  let answer = () => {};
  const arrived = new Promise<void>((resolve) => {
    upstream.react((response) => {
      answer = () => response.writeHead(201).end();
      resolve();
    });
  });
  const reply = post(relay, [event('a')]);
  await arrived;
  const ended = relay.end('SIGTERM');
  const health = async () => (await fetch(`${relay.ready}/clew/health`)).status;
  await expect.poll(health).toBe(503);
  if (signals > 1) relay.signal('SIGTERM');
  answer();
  expect([await reply, await ended]).toEqual([201, 0]);
});

it('goes on if no process reads its log any more', async () => {
  const env = { ...process.env, BASE_URL: upstream.url, API_KEY: 'k', PORT: '0', LOG_LEVEL: 'info' };
  const child = spawn(process.execPath, [COMMAND], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ready = await outputOf(child, READY);
  child.stdout.destroy();
  for (let n = 0; n < 3; n++) expect(await post({ ready }, [event('a')])).toBe(201);
});

it('without a variable that it needs ends with one line that names it', () => {
  const { status, stderr, stdout } = spawnSync(process.execPath, [COMMAND], {
    env: { PATH: process.env.PATH, BASE_URL: upstream.url },
    encoding: 'utf8',
  });
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toBe('clew-relay: API_KEY: expected visible ASCII characters, got nothing\n');
});

const fail = (env: Record<string, string>, ...args: readonly string[]) => {
  const given = { PATH: process.env.PATH, BASE_URL: upstream.url, API_KEY: 'k', PORT: '0', ...env };
  // The time-out only ends a process that would never end.
  const options = { env: given, encoding: 'utf8', timeout: 20_000 } as const;
  const { status, stderr } = spawnSync(process.execPath, [COMMAND, ...args], options);
  return [status, stderr];
};

it('with an argument ends with a line that names what it expects', () => {
  const message = 'expected variables of the environment, such as BASE_URL, and no argument, got --help';
  expect(fail({}, '--help')).toEqual([1, `clew-relay: ${message}\n`]);
});

it('with a port that is taken ends with 1', { tags: 'long' }, () => {
  const { port } = new URL(upstream.url);
  expect(fail({ METRICS_PORT: port })).toEqual([1, expect.stringContaining('EADDRINUSE')]);
  expect(fail({ METRICS_PORT: '0', PORT: port })).toEqual([1, expect.stringContaining('EADDRINUSE')]);
});

it.each(['localhost:6379', 'http://:hidden@localhost', 'x'])(
  'with REDIS_URL %s ends with 1',
  { tags: 'long' },
  (url) => {
    expect(fail({ REDIS_URL: url })).toEqual([1, 'clew-relay: REDIS_URL: expected redis://… or rediss://…\n']);
  },
);

it.each(['redis://localhost/hidden', 'redis://:hidden%zz@localhost'])(
  'with REDIS_URL %s, which the package refuses, ends with 1 and names the variable',
  (url) => {
    const [code, message] = fail({ REDIS_URL: url });
    expect([code, message]).toEqual([1, expect.stringMatching(/^clew-relay: REDIS_URL: expected redis:\/\/user:/)]);
    expect(message).not.toContain('hidden');
  },
);

itWithRedis('with a fault in another variable ends with 1, also beside a Redis', async () => {
  const { port } = new URL(upstream.url);
  const env = { REDIS_URL: redis().url };
  expect(fail({ ...env, BASE_URL: 'service.example' })).toEqual([1, expect.stringMatching(/^clew-relay: BASE_URL: /)]);
  expect(fail({ ...env, PORT: port })).toEqual([1, expect.stringContaining('EADDRINUSE')]);
});

it('starts without its Redis, is live, and is ready once that is there', async () => {
  const relay = await run({ REDIS_URL: await deadUrl().then((url) => url.replace('http', 'redis')) });
  expect((await fetch(`${relay.ready}/health/live`)).status).toBe(200);
  expect((await fetch(`${relay.ready}/health`)).status).toBe(503);
  expect(await post(relay, [event('a')])).toBe(503);
  expect(await relay.end('SIGTERM')).toBe(0);
});

it('starts while its Redis accepts the connection and answers nothing, and ends on SIGTERM', {
  tags: 'long',
}, async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  onTestFinished(() => void silent.close());
  const relay = await run({ REDIS_URL: `redis://127.0.0.1:${(silent.address() as AddressInfo).port}`, TIMEOUT: '500' });
  expect((await fetch(`${relay.ready}/clew/health/live`)).status).toBe(200);
  expect((await fetch(`${relay.ready}/clew/health`)).status).toBe(503);
  expect(await relay.end('SIGTERM')).toBe(0);
});

itWithRedis('ends on SIGTERM while Redis is frozen', async () => {
  const frozen = await startRedis();
  onTestFinished(() => frozen.stop());
  const relay = await run({ REDIS_URL: frozen.url, TIMEOUT: '500' });
  frozen.freeze();
  onTestFinished(frozen.thaw);
  expect(await post(relay, [event('a')])).toBe(503);
  expect(await relay.end('SIGTERM')).toBe(0);
});

itWithRedis('two relays with one Redis forward an event once, also after a restart of Redis', async () => {
  // A long time-out needs longer reservations.
  const env = { REDIS_URL: redis().url, TIMEOUT: '60000' };
  const [one, two] = await Promise.all([run(env), run(env)]);
  const batch = [event('a')];
  expect([await post(one, batch), await post(two, batch)]).toEqual([201, 200]);
  await redis().kill();
  expect(await post(one, [event('b')])).toBe(503);
  await redis().restart();
  await redis().reconnected();
  await expect.poll(() => post(two, batch), { timeout: 20_000 }).toBe(200);
  expect(upstream.received).toHaveLength(1);
  expect(await Promise.all([one.end('SIGTERM'), two.end('SIGTERM')])).toEqual([0, 0]);
});

it('adds to events what the variables name, and drops those of bots', async () => {
  const env = { COUNTRY_HEADER: 'CF-IPCountry', CLIENT_ADDRESS: 'short', PARSE_USER_AGENT: 'true', BOTS: 'drop' };
  const relay = await run(env);
  const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
  const headers = { 'CF-IPCountry': 'AT', 'User-Agent': firefox };
  expect(await post(relay, [event('a', { payload: { n: 1 } })], headers)).toBe(201);
  expect(await post(relay, [event('b')], { 'User-Agent': 'Googlebot/2.1' })).toBe(200);
  const payload = {
    n: 1,
    country: 'AT',
    address: '127.0.0.0',
    browser: 'Firefox',
    browser_version: '140.0',
    os: 'Linux',
    device: 'desktop',
  };
  expect(upstream.bodies()).toMatchObject([{ batch: [{ event: 'a', payload }] }]);
});

/** A file of this content. */
const fileOf = (content: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'clew-relay-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'catalogue.json');
  writeFileSync(path, content);
  return path;
};
/** A catalogue whose only event has this name. */
const catalogueWith = (name: string): string => {
  const properties = { event: { const: name } };
  return JSON.stringify({ anyOf: [{ title: name, type: 'object', properties, required: ['event'] }] });
};

it('checks events against the catalogues that the variable names', async () => {
  const relay = await run({ CATALOGUE: [fileOf(catalogueWith('a')), fileOf(`\uFEFF${catalogueWith('b')}`)].join() });
  expect(await post(relay, [event('a'), event('c'), event('b')])).toBe(201);
  expect(upstream.bodies()).toMatchObject([{ batch: [{ event: 'a' }, { event: 'b' }] }]);
});

it.each([
  ['no catalogue', fileOf, '{}', 'expected a catalogue, as `npx clew catalogue` writes it\n'],
  ['no JSON', fileOf, 'export {}', 'Unexpected token'],
  ['no file', (path: string) => path, 'missing.json', 'ENOENT'],
])('with a catalogue that is %s ends with 1', { tags: 'long' }, (_what, make, given, message) => {
  const path = make(given);
  expect(fail({ CATALOGUE: path })).toEqual([1, expect.stringContaining(`clew-relay: CATALOGUE: ${path}: ${message}`)]);
});

it('has the metrics on a port of their own, and not on the relay’s', async () => {
  const given = { BASE_URL: upstream.url, API_KEY: 'the-secret-key', PORT: '0', METRICS_PORT: '0' };
  const relay = await start(process.execPath, [COMMAND], /clew-relay: (http:.*)\nclew-relay metrics: .*\n/, given);
  onTestFinished(async () => void (await relay.end('SIGKILL')));
  expect((await fetch(`${relay.ready}/metrics`)).status).toBe(405);
});
