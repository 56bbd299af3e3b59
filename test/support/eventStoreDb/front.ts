// The TCP port that clients connect to, in front of the gRPC server. It survives restarts and can be cut or frozen.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

export class Front {
  readonly #sockets = new Set<Socket>();
  readonly #happened: () => void;
  #listener: Server | null = null;
  #port = 0;
  #connections = 0;
  #frozen = false;

  constructor(happened: () => void) {
    this.#happened = happened;
  }

  get port(): number {
    return this.#port;
  }

  /** Number of open client connections. */
  get connections(): number {
    return this.#connections;
  }

  /** Listens on loopback, on a free port at first and on the same port afterwards. */
  async open(backendPort: number): Promise<void> {
    const listener = createServer((client) => this.#accept(client, backendPort));
    listener.listen(this.#port, '127.0.0.1');
    await once(listener, 'listening');
    this.#port = (listener.address() as { port: number }).port;
    this.#listener = listener;
  }

  /** Accepts no more connections. Resolves when the open ones have ended. */
  async close(): Promise<void> {
    const listener = this.#listener;
    this.#listener = null;
    if (listener !== null) await new Promise((resolve) => listener.close(resolve));
  }

  /** Destroys all connections without a graceful close. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** While frozen, it accepts connections but passes no data, not even answers to pings. Afterwards, waiting data continues. */
  freeze(frozen: boolean): void {
    this.#frozen = frozen;
    for (const socket of this.#sockets) {
      if (frozen) socket.pause();
      else socket.resume();
    }
  }

  #accept(client: Socket, backendPort: number): void {
    const backend = connect({ host: '127.0.0.1', port: backendPort, noDelay: true });
    client.setNoDelay(true);
    this.#connections += 1;
    client.once('close', () => {
      this.#connections -= 1;
      this.#happened();
    });
    this.#forward(client, backend);
    this.#forward(backend, client);
    this.#happened();
  }

  #forward(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.on('data', (bytes) => {
      if (to.write(bytes)) return;
      from.pause();
      to.once('drain', () => {
        if (!this.#frozen) from.resume();
      });
    });
    from.on('end', () => to.end());
    from.on('error', () => undefined);
    from.on('close', () => {
      this.#sockets.delete(from);
      to.destroySoon();
    });
    if (this.#frozen) from.pause();
  }
}
