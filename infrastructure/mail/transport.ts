// What sends mail is loaded and opened with the first mail: 85 ms of CPU that no start pays.

interface Closable {
  close(): void;
}

interface LateTransport<T extends Closable> {
  opened(): Promise<T>;
  /** Nothing when no mail was sent. */
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
