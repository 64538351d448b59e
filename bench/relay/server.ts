/** One server, a process of its own: `server.ts <role> <destination>`. */
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { serve } from '@hono/node-server';
import { createCollector } from '../../demo/collector/collector.ts';
import { createRelay, toNodeHandler } from '../../dist/relay.js';
import { KEY, SECRET } from './batches.ts';
import { answering } from './processes.ts';

export type Role = 'relay' | 'signed' | 'limited' | 'bare' | 'bare-http' | 'sink' | 'collector';

/** The figures that a server reports about itself. */
export interface Usage {
  url: string;
  memory: NodeJS.MemoryUsage;
  /** Processor time so far, in µs. */
  cpu: number;
}

/** Answers as the service does, and does nothing else. */
const sink = (request: IncomingMessage, response: ServerResponse) => {
  request.resume().once('end', () => response.writeHead(201).end());
};

type Pass = (url: string, headers: Record<string, string>, body: Buffer) => Promise<{ status: number; text: string }>;

/** Passes a request on by `fetch`, the plain code of a proxy. */
const passByFetch: Pass = async (url, headers, body) => {
  const answer = await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) });
  return { status: answer.status, text: await answer.text() };
};

const agent = new Agent({ keepAlive: true });
/** Passes a request on by `node:http`, as the relay does in Node. */
const passByHttp: Pass = async (url, headers, body) => {
  const posting = request(url, { method: 'POST', headers, agent }).end(body);
  const [answer] = (await once(posting, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, text: await text(answer) };
};

/** The least code that keeps the key out of the page. The proxy reads the body, sends it on, and passes the answer back. */
const bareProxy = (destination: string, pass: Pass) => async (request: IncomingMessage, response: ServerResponse) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk) => chunks.push(chunk));
  await once(request, 'end');
  const encoding = request.headers['content-encoding'];
  const headers = {
    Authorization: `Api-Key ${KEY}`,
    'Content-Type': 'application/json',
    ...(encoding && { 'Content-Encoding': encoding }),
  };
  const answer = await pass(destination + request.url, headers, Buffer.concat(chunks));
  response.writeHead(answer.status).end(answer.text);
};

/** All of the load has one address, so the limits are on but higher than the load. */
const HIGH = { rate: 10_000_000, burst: 10_000_000 };
const limits = { address: HIGH, total: HIGH };

const open = async (role: string, destination: string): Promise<Server> => {
  const options = { baseUrl: destination, apiKey: KEY, limits };
  switch (role) {
    case 'relay':
      return createServer(toNodeHandler(createRelay(options))).listen(0, '127.0.0.1');
    case 'signed':
      return createServer(toNodeHandler(createRelay({ ...options, identitySecret: SECRET }))).listen(0, '127.0.0.1');
    case 'limited':
      return createServer(toNodeHandler(createRelay({ ...options, limits: { trustedProxies: 1 } }))).listen(
        0,
        '127.0.0.1',
      );
    case 'bare':
      return createServer(bareProxy(destination, passByFetch)).listen(0, '127.0.0.1');
    case 'bare-http':
      return createServer(bareProxy(destination, passByHttp)).listen(0, '127.0.0.1');
    case 'collector': {
      const { app } = await createCollector({ apiKey: KEY });
      return serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server;
    }
    default:
      return createServer(sink).listen(0, '127.0.0.1');
  }
};

const [, , role = 'sink', destination = ''] = process.argv;
const server = await open(role, destination);
if (!server.listening) await once(server, 'listening');
answering((): Usage => {
  const { user, system } = process.cpuUsage();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, memory: process.memoryUsage(), cpu: user + system };
});
