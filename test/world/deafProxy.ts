// A proxy to PostgreSQL that drops all notifications and passes everything else.
import { startTcpProxy } from './tcpProxy.ts';

export interface DeafProxy {
  readonly connectionString: string;
  /** The number of dropped notifications. */
  readonly swallowed: number;
  close(): Promise<void>;
}

const NOTIFICATION = 'A'.charCodeAt(0);
/** One byte for the type, and four for the length, which includes itself. */
const HEAD_BYTES = 5;

/** Passes on the server's messages, except notifications. */
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
  let swallowed = 0;
  const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) }, (pass) =>
    withoutNotifications(pass, () => {
      swallowed++;
    }),
  );
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  return {
    connectionString: url.href,
    get swallowed() {
      return swallowed;
    },
    close: () => proxy.close(),
  };
};
