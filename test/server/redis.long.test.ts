import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { openRedis } from '../../src/server/redis.ts';
import { describeWithRedis, startRedis, useRedis } from '../redis.ts';

const redis = useRedis();

/**
 * A proxy before Redis that can make connections silent, like a firewall that has dropped their state. New connections can lead to
 * another server, like a name whose address has changed.
 */
const openWay = async (port: number, isSilent = false) => {
  let target = port;
  const silent = new Set<Socket>();
  let isNextSilent = isSilent;
  const server = createServer((from) => {
    if (isNextSilent) silent.add(from);
    const to = connect(target, '127.0.0.1');
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      one.on('data', (chunk) => void (silent.has(from) || other.write(chunk)));
      one.on('close', () => other.destroy());
      one.on('error', () => {});
    }
    onTestFinished(() => void from.destroy());
    sockets.push(from);
  });
  const sockets: Socket[] = [];
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    silence: () => {
      for (const socket of sockets) silent.add(socket);
    },
    openAgain: () => {
      isNextSilent = false;
    },
    leadTo: (port: number) => {
      target = port;
    },
  };
};

const portOf = ({ url } = redis()) => Number(new URL(url).port);
const open = async (url: string) => {
  const errors: string[] = [];
  const opened = await openRedis(url, (error) => errors.push(String(error)));
  onTestFinished(() => void opened.close());
  await opened.connect();
  return { ...opened, errors };
};

describeWithRedis('a connection that is open but silent is replaced', () => {
  it('from the start', async () => {
    const way = await openWay(portOf(), true);
    const { command, errors } = await open(way.url);
    way.openAgain();
    await expect.poll(() => command(['PING']).catch(() => ''), { timeout: 20_000, interval: 100 }).toBe('PONG');
    expect(errors[0]).toBe('no answer yet');
  });

  it('in the midst of its use, and a command that waits for it fails', async () => {
    const way = await openWay(portOf());
    const { command } = await open(way.url);
    expect(await command(['PING'])).toBe('PONG');
    way.silence();
    await expect(command(['PING'])).rejects.toThrow();
    await expect.poll(() => command(['PING']).catch(() => ''), { timeout: 20_000, interval: 100 }).toBe('PONG');
  });
});

describeWithRedis('a connection to a server that has become a replica is replaced', () => {
  it.each([
    ['a command', ['SET', 'a', '1']],
    ['a script', ['EVAL', "return redis.call('SET', KEYS[1], '1')", '1', 'a']],
  ])('after %s that it refuses', async (_what, write) => {
    const primary = await startRedis();
    onTestFinished(() => primary.stop());
    const way = await openWay(portOf());
    const { command, errors } = await open(way.url);
    expect(`${await command(write)}`).toMatch(/OK/);
    await redis().command(['REPLICAOF', '127.0.0.1', `${portOf(primary)}`]);
    onTestFinished(async () => void (await redis().command(['REPLICAOF', 'NO', 'ONE'])));
    way.leadTo(portOf(primary));
    await expect(command(write)).rejects.toThrow(/READONLY/);
    expect(await command(['PING'])).toBe('PONG');
    const written = () => command(write).then(String, () => '');
    await expect.poll(written, { timeout: 20_000, interval: 100 }).toMatch(/OK/);
    expect(errors).toContain('Redis is a replica now, so the connection is replaced');
  });
});
