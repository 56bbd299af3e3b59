// A proxy to PostgreSQL that drops all notifications and passes everything else.
import { startPostgresProxy } from './tcpProxy.ts';

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
  let swallowed = 0;
  const proxy = await startPostgresProxy(connectionString, (pass) =>
    withoutNotifications(pass, () => {
      swallowed++;
    }),
  );
  return {
    connectionString: proxy.connectionString,
    get swallowed() {
      return swallowed;
    },
    close: () => proxy.close(),
  };
};
