// A proxy to PostgreSQL that swallows every notification: the process behind it hears of nothing, and reads and writes as ever.
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';

export interface DeafProxy {
  readonly connectionString: string;
  /** Notifications that did not pass. */
  readonly swallowed: number;
  close(): Promise<void>;
}

const NOTIFICATION = 'A'.charCodeAt(0);
/** One byte for the type, four for the length, which counts itself. */
const HEAD_BYTES = 5;

/** Passes on whole messages of the server but notifications. */
const withoutNotifications = (pass: (bytes: Buffer) => void, onSwallowed: () => void): ((bytes: Buffer) => void) => {
  let pending = Buffer.alloc(0);
  return (bytes) => {
    pending = Buffer.concat([pending, bytes]);
    while (pending.length >= HEAD_BYTES) {
      const end = 1 + pending.readUInt32BE(1);
      if (pending.length < end) return;
      if (pending[0] === NOTIFICATION) onSwallowed();
      else pass(pending.subarray(0, end));
      pending = pending.subarray(end);
    }
  };
};

export const startDeafProxy = async (connectionString: string): Promise<DeafProxy> => {
  const url = new URL(connectionString);
  const [folder, port] = [decodeURIComponent(url.hostname), Number(url.port)];
  const target = folder.startsWith('/') ? { path: join(folder, `.s.PGSQL.${port}`) } : { host: folder, port };
  const sockets = new Set<Socket>();
  let swallowed = 0;
  const server = createServer((client) => {
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
    client.on('data', (bytes) => upstream.write(bytes));
    upstream.on(
      'data',
      withoutNotifications(
        (bytes) => client.write(bytes),
        () => {
          swallowed++;
        },
      ),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as { port: number }).port);
  return {
    connectionString: url.href,
    get swallowed() {
      return swallowed;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
