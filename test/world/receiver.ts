// A webhook receiver on loopback that records requests and lets tests wait for them.
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Hit {
  readonly at: number;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: string;
  readonly body: Record<string, unknown>;
}

/** Responds to a hit. `n` is the number of hits so far. */
export type Script = (hit: Hit, res: ServerResponse, n: number) => void;

let opened = 0;
/**
 * Returns an address that no other receiver uses: gateways keep retrying a closed receiver, and its port may be reused. Only Linux supports
 * all of 127.0.0.0/8 by default.
 */
const ownLoopback = (): string => {
  if (process.platform !== 'linux') return '127.0.0.1';
  const bytes = randomBytes(2);
  opened += 1;
  return `127.${1 + (opened % 250)}.${bytes[0]}.${1 + ((bytes[1] as number) % 250)}`;
};

export class Receiver {
  readonly url: string;
  readonly got: Hit[] = [];
  readonly #waiters = new Set<() => void>();
  readonly #close: () => Promise<void>;

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
  }

  static async open(script: Script = (_hit, res) => void res.end()): Promise<Receiver> {
    let receiver: Receiver;
    const server = createServer((req, res) => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        const rawBody = Buffer.concat(chunks).toString('utf8');
        const hit: Hit = {
          at: Date.now(),
          path: req.url ?? '',
          headers: req.headers,
          rawBody,
          body: JSON.parse(rawBody || '{}') as Hit['body'],
        };
        receiver.got.push(hit);
        script(hit, res, receiver.got.length);
        for (const wake of receiver.#waiters) wake();
      });
    });
    // The sender could otherwise reuse a connection that the server closed while the process was paused.
    server.keepAliveTimeout = 0;
    const host = ownLoopback();
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    receiver = new Receiver(`http://${host}:${(server.address() as AddressInfo).port}/hook`, () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    });
    return receiver;
  }

  /** Resolves with the first hit that matches, past or future. Rejects after `timeoutMs`. */
  until(matches: (hit: Hit) => boolean, timeoutMs = 20_000): Promise<Hit> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const hit = this.got.find(matches);
        if (!hit) return;
        clearTimeout(timer);
        this.#waiters.delete(look);
        resolve(hit);
      };
      const timer = setTimeout(() => {
        this.#waiters.delete(look);
        reject(new Error(`no such webhook within ${timeoutMs} ms; came: ${this.got.map(typeOf).join(', ')}`));
      }, timeoutMs);
      this.#waiters.add(look);
      look();
    });
  }

  close(): Promise<void> {
    return this.#close();
  }
}

export const typeOf = ({ body }: Hit): string => String(body['type'] ?? body['event']);
