import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The ports are below those that systems assign, so that no other process gets a port while no server listens on it. This process
 * uses each port once, because a port is an origin, and an origin has its own storage.
 */
let nextPort = 20_000 + Math.floor(Math.random() * 10_000);

const listen = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });

const findPort = async (server: Server): Promise<number> => {
  for (;;) {
    const port = nextPort++;
    try {
      await listen(server, port);
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
};

/** Lets a server listen on a port of its own, stop that, and listen there again. */
export const createListener = async (server: Server) => {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const port = await findPort(server);
  return {
    port,
    async refuse() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    async accept() {
      if (!server.listening) await listen(server, port);
    },
  };
};
