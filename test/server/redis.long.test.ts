import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { openRedis } from '../../src/server/redis.ts';
import { describeWithRedis, useRedis } from '../redis.ts';

const redis = useRedis();

/** A proxy before Redis that can make connections silent, like a firewall that has dropped their state. */
const openWay = async (port: number, isSilent = false) => {
  const silent = new Set<Socket>();
  let isNextSilent = isSilent;
  const server = createServer((from) => {
    if (isNextSilent) silent.add(from);
    const to = connect(port, '127.0.0.1');
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
  };
};

describeWithRedis('a connection that is open but silent is replaced', () => {
  const portOf = () => Number(new URL(redis().url).port);
  const open = async (url: string) => {
    const errors: string[] = [];
    const opened = await openRedis(url, (error) => errors.push(String(error)));
    onTestFinished(() => void opened.close());
    await opened.connect();
    return { ...opened, errors };
  };

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
