// Dead hosts on loopback, each with its own address. They fail in one of three ways: they refuse connections, accept them and never answer,
// or drop all packets, like an unroutable address.
import { type ChildProcess, fork } from 'node:child_process';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { freePort } from './program.ts';

/** More connections than the queue of swallowingProcess.ts holds. */
const FILLING = 8;

export class DeadHosts {
  readonly #ports: readonly number[];
  readonly #silent: Server;
  readonly #swallowing: ChildProcess;
  readonly #sockets: Set<Socket>;

  private constructor(ports: readonly number[], silent: Server, swallowing: ChildProcess, sockets: Set<Socket>) {
    this.#ports = ports;
    this.#silent = silent;
    this.#swallowing = swallowing;
    this.#sockets = sockets;
  }

  static async open(): Promise<DeadHosts> {
    const sockets = new Set<Socket>();
    const keep = (socket: Socket): void => void sockets.add(socket.on('error', () => undefined));
    const silent = createServer(keep);
    await new Promise<void>((resolve) => silent.listen(0, '0.0.0.0', resolve));
    const swallowing = fork(join(import.meta.dirname, 'swallowingProcess.ts'));
    const { port } = await new Promise<{ port: number }>((resolve) =>
      swallowing.once('message', resolve as () => void),
    );
    swallowing.kill('SIGSTOP');
    for (let n = 0; n < FILLING; n++) keep(connect(port, '127.0.0.1'));
    const ports = [await freePort(), (silent.address() as AddressInfo).port, port];
    return new DeadHosts(ports, silent, swallowing, sockets);
  }

  /** Returns the URL of the nth host, 0 ≤ n < 60,000. `n` determines how it fails. */
  url(n: number): string {
    return `http://127.1.${Math.floor(n / 250)}.${(n % 250) + 1}:${this.#ports[n % this.#ports.length]}/hook`;
  }

  /** The number of connections that silent hosts have accepted. */
  get held(): number {
    return this.#sockets.size - FILLING;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#swallowing.kill('SIGKILL');
    await new Promise((resolve) => this.#silent.close(resolve));
  }
}
