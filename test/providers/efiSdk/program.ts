// Runs Efí’s official client in a separate process, with connections to Efí’s host redirected to the simulator. The TLS handshake keeps the
// host name, so that the client checks the certificate as in production.
import { createRequire } from 'node:module';
import type { ConnectionOptions } from 'node:tls';
import EfiPay from 'sdk-node-apis-efi';

/** One call of the client, requested by the test. */
export interface Order {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}
export interface Outcome {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: unknown;
}

const { EFI_HOST = '', SIMULATOR_PORT = '', EFI_OPTIONS = '' } = process.env;

// The same object that `https` uses; an import would copy its members.
const tls = createRequire(import.meta.url)('node:tls') as { connect: (options: ConnectionOptions) => unknown };
const connect = tls.connect.bind(tls);
tls.connect = (options) => {
  if (options.host !== EFI_HOST) throw new Error(`The client called ${options.host}.`);
  return connect({ ...options, host: '127.0.0.1', port: Number(SIMULATOR_PORT), servername: EFI_HOST });
};

const client = new EfiPay(JSON.parse(EFI_OPTIONS)) as unknown as Record<
  string,
  (...args: readonly unknown[]) => Promise<unknown>
>;

process.on('message', ({ id, method, args }: Order) => {
  const reply = (outcome: Omit<Outcome, 'id'>): boolean | undefined => process.send?.({ id, ...outcome });
  const call = client[method] as (...args: readonly unknown[]) => Promise<unknown>;
  call.apply(client, [...args]).then(
    (value) => reply({ value }),
    (error: unknown) => reply({ error: error instanceof Error ? error.message : error }),
  );
});
