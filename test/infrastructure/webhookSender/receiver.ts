// Receivers on loopback for the tests of the webhook sender: real servers, and an event for everything to wait for.
import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import net, { type AddressInfo, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { AttemptOutcome, WebhookRequest } from '../../../application/ports/webhookSender.ts';
import type { Identity } from '../../support/tls/certificates.ts';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Receiver {
  readonly port: number;
  /** Ends with a slash. */
  readonly url: string;
  readonly requests: Received[];
  /** Every socket ever accepted, in order. */
  readonly sockets: Socket[];
  /** The SNI name of every TLS connection, in order; null where there was none. */
  readonly serverNames: (string | null)[];
  close(): Promise<void>;
}

type Answer = (response: ServerResponse, request: Received) => void;

/** Opens a receiver that answers each request with `answer` after its whole body has arrived. */
export function openReceiver(answer: Answer, identity?: Identity): Promise<Receiver> {
  const requests: Received[] = [];
  const listener = async (incoming: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const request: Received = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      body: Buffer.concat(chunks).toString('utf8'),
    };
    requests.push(request);
    answer(response, request);
  };
  const server = identity === undefined ? http.createServer(listener) : https.createServer(identity, listener);
  return listen(server, identity === undefined ? 'http' : 'https', requests);
}

/** Opens a plain TCP receiver. `talk` gets the socket when the first bytes of a request have arrived. */
export function openRawReceiver(talk: (socket: Socket) => void): Promise<Receiver> {
  return listen(
    net.createServer((socket) => socket.on('error', () => socket.destroy()).once('data', () => talk(socket))),
    'http',
    [],
  );
}

async function listen(server: net.Server, scheme: string, requests: Received[]): Promise<Receiver> {
  const sockets: Socket[] = [];
  const serverNames: (string | null)[] = [];
  server.on('connection', (socket) => sockets.push(socket));
  server.on('secureConnection', (socket: TLSSocket) => serverNames.push(socket.servername || null));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `${scheme}://127.0.0.1:${port}/`,
    requests,
    sockets,
    serverNames,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Resolves however the connection ends, also with a reset. */
export const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.on('error', () => {}).once('close', () => resolve());
  });

export const webhook = (url: string, more: Partial<WebhookRequest> = {}): WebhookRequest => ({
  url,
  headers: { 'content-type': 'application/json' },
  body: '{"id":"evt_1"}',
  mode: 'test',
  account: 'acct',
  ...more,
});

/** Returns the outcome without its duration, which no test can know exactly. */
export function timeless({ durationMs, ...outcome }: AttemptOutcome): Omit<AttemptOutcome, 'durationMs'> {
  if (!Number.isInteger(durationMs) || durationMs < 0) throw new Error(`durationMs is ${durationMs}`);
  return outcome;
}
