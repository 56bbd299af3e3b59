// A webhook receiver on loopback that remembers what came and wakes whoever waits for it.
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

/** Answers a hit; default: 200 with nothing. */
export type Script = (hit: Hit, res: ServerResponse, n: number) => void;

let opened = 0;
/**
 * An address that no other receiver of any test has: gateways go on trying a receiver that was closed, whose port may be another's by
 * then. Only Linux has all of 127.0.0.0/8 without being told.
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
    // The sender may use a connection again, however long the process stood still meanwhile.
    server.keepAliveTimeout = 0;
    const host = ownLoopback();
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    receiver = new Receiver(`http://${host}:${(server.address() as AddressInfo).port}/hook`, () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    });
    return receiver;
  }

  /** The first hit that matches, now or later; rejects after `timeoutMs`. */
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
