// Loads nodemailer with the first mail, which saves 85 ms of CPU at every start.

interface Closable {
  close(): void;
}

interface LateTransport<T extends Closable> {
  opened(): Promise<T>;
  /** No-op if no mail was sent. */
  close(): void;
}

export const lateTransport = <T extends Closable>(
  open: (nodemailer: typeof import('nodemailer')) => T,
): LateTransport<T> => {
  let transport: Promise<T> | null = null;
  return {
    opened: () => {
      transport ??= import('nodemailer').then(open);
      return transport;
    },
    close: () => void transport?.then((opened) => opened.close()),
  };
};
