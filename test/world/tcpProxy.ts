// A TCP proxy between a client and a server on loopback, for faults at a chosen moment: held answers, silence, cut connections.
// The server may listen on a Unix socket of PostgreSQL: `host` is then its folder as it stands in a connection string (%2F…).
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';

export interface TcpProxy {
  readonly port: number;
  /** Connections accepted so far. */
  readonly accepted: number;
  /** From now on the server's bytes are swallowed, while the client's still reach it. */
  swallowAnswers(): void;
  /** From now on the client's bytes are swallowed. */
  swallowRequests(): void;
  /** The connections of this moment fall silent both ways and stay open, as through a NAT that forgot them; new ones pass. How many. */
  silence(): number;
  /** All fall silent both ways, and new ones are accepted and never answered, until `heal`. */
  blackHole(): void;
  /** Both ways again for connections made from now on; those made before are cut. */
  heal(): void;
  /** Resolves when the client has sent `marker` since the call. */
  sees(marker: string): Promise<void>;
  close(): Promise<void>;
}

/** Takes the server's bytes of one connection and passes on what the client is to see of them. */
type Filter = (pass: (bytes: Buffer) => void) => (bytes: Buffer) => void;

/** `filter`: default, all bytes pass. */
export const startTcpProxy = async (
  target: { readonly host: string; readonly port: number },
  filter: Filter = (pass) => pass,
): Promise<TcpProxy> => {
  const folder = decodeURIComponent(target.host);
  const sockets = new Set<Socket>();
  const connections = new Set<{ isSilent: boolean }>();
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
  const server: Server = createServer({ allowHalfOpen: true }, (client) => {
    accepted += 1;
    const upstream = connect(folder.startsWith('/') ? { path: join(folder, `.s.PGSQL.${target.port}`) } : target);
    const connection = { isSilent: false };
    connections.add(connection);
    client.on('close', () => connections.delete(connection));
    client.on('end', () => {
      if (!connection.isSilent) client.end();
    });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        // Who is behind a silence hears of nothing: not of the end of the other side either.
        if (!connection.isSilent) other.destroy();
      });
    }
    client.on('data', (bytes) => {
      if (requests && !connection.isSilent) upstream.write(bytes);
      notice(bytes);
    });
    const pass = filter((bytes) => client.write(bytes));
    upstream.on('data', (bytes) => {
      if (answers && !connection.isSilent) pass(bytes);
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
    silence() {
      const talking = [...connections].filter(({ isSilent }) => !isSilent);
      for (const connection of talking) connection.isSilent = true;
      return talking.length;
    },
    blackHole() {
      for (const connection of connections) connection.isSilent = true;
      answers = false;
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
