// A TCP proxy between a client and a server on loopback that causes faults on demand: dropped responses, silence, cut connections. The
// server may listen on PostgreSQL’s Unix socket. `host` is then its folder as written in a connection string (%2F…).
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';

export interface TcpProxy {
  readonly port: number;
  /** Connections accepted so far. */
  readonly accepted: number;
  /** Drops the server's bytes from now on. The client's still arrive. */
  swallowAnswers(): void;
  /** Drops the client's bytes from now on. */
  swallowRequests(): void;
  /** Silences open connections in both directions without closing them, like a NAT that lost them. New ones work. Returns how many. */
  silence(): number;
  /** Silences all connections in both directions until `heal`. New ones are accepted and never answered. */
  blackHole(): void;
  /** Cuts existing connections. New ones work in both directions. */
  heal(): void;
  /** Resolves when the client sends `marker` after the call. */
  sees(marker: string): Promise<void>;
  close(): Promise<void>;
}

/** Filters the server's bytes of one connection. */
type Filter = (pass: (bytes: Buffer) => void) => (bytes: Buffer) => void;

/** Without a `filter`, all bytes pass. */
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
        // A silenced side doesn't learn that the other side has closed.
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

export interface PostgresProxy extends TcpProxy {
  /** Connects through the proxy. */
  readonly connectionString: string;
}

export const startPostgresProxy = async (connectionString: string, filter?: Filter): Promise<PostgresProxy> => {
  const url = new URL(connectionString);
  const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) }, filter);
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  return Object.assign(proxy, { connectionString: url.href });
};
