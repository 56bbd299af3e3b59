// A TCP proxy between a client and a server on loopback, for faults at a chosen moment: held answers, cut connections.
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  /** Connections accepted so far. */
  readonly accepted: number;
  /** From now on the server's bytes are swallowed, while the client's still reach it. */
  swallowAnswers(): void;
  /** From now on the client's bytes are swallowed. */
  swallowRequests(): void;
  /** Both ways again for connections made from now on; those made before are cut. */
  heal(): void;
  /** Resolves when the client has sent `marker` since the call. */
  sees(marker: string): Promise<void>;
  close(): Promise<void>;
}

export const startTcpProxy = async (target: { readonly host: string; readonly port: number }): Promise<TcpProxy> => {
  const sockets = new Set<Socket>();
  let answers = true;
  let requests = true;
  let accepted = 0;
  let watchers: { readonly marker: string; readonly resolve: () => void }[] = [];

  const notice = (bytes: Buffer): void => {
    const hit = watchers.filter(({ marker }) => bytes.includes(marker));
    watchers = watchers.filter((watcher) => !hit.includes(watcher));
    for (const { resolve } of hit) resolve();
  };
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const server: Server = createServer((client) => {
    accepted += 1;
    const upstream = connect(target);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on('data', (bytes) => {
      if (requests) upstream.write(bytes);
      notice(bytes);
    });
    upstream.on('data', (bytes) => {
      if (answers) client.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };

  return {
    port,
    get accepted() {
      return accepted;
    },
    swallowAnswers() {
      answers = false;
    },
    swallowRequests() {
      requests = false;
    },
    heal() {
      answers = true;
      requests = true;
      cut();
    },
    sees: (marker) => new Promise((resolve) => watchers.push({ marker, resolve })),
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
