// A relay between the adapter and Prism that records exchanges and the violations found by Prism.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Agent, request } from 'undici';

export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly answer: string;
  /** Violations of the schema by the request or answer, such as `response.body.pix.0.txid: pattern`. */
  readonly violations: readonly string[];
}

interface Violation {
  readonly location: readonly string[];
  readonly code?: string;
  readonly message?: string;
}

export interface Rewriting {
  /** Returns headers for Prism in addition to the adapter’s. */
  headers?(): Record<string, string>;
  /** Returns what the adapter gets instead of the answer. */
  answer?(answer: string): string;
}

export interface Relay {
  readonly url: string;
  readonly exchanges: Exchange[];
  close(): Promise<void>;
}

const HOP_BY_HOP = ['host', 'connection', 'content-length', 'transfer-encoding'];

const violationsOf = (header: unknown): readonly string[] =>
  typeof header === 'string'
    ? (JSON.parse(header) as Violation[]).map(
        ({ location, code, message }) => `${location.join('.')}: ${code ?? message}`,
      )
    : [];

export const startRelay = async (upstream: string, rewriting: Rewriting = {}): Promise<Relay> => {
  const agent = new Agent();
  const exchanges: Exchange[] = [];

  const pass = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { method = '', url: path = '' } = req;
    const sent = await text(req);
    const kept = Object.entries(req.headers).filter(([name]) => !HOP_BY_HOP.includes(name));
    const reply = await request(upstream + path, {
      method,
      headers: { ...Object.fromEntries(kept), ...rewriting.headers?.() },
      body: sent === '' ? null : sent,
      dispatcher: agent,
    });
    const answer = await reply.body.text();
    const { statusCode: status, headers } = reply;
    exchanges.push({ method, path, status, answer, violations: violationsOf(headers['sl-violations']) });
    res.writeHead(status, { 'content-type': String(headers['content-type'] ?? 'application/json') });
    res.end(rewriting.answer?.(answer) ?? answer);
  };

  const server = createServer((req, res) => {
    pass(req, res).catch(() => res.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges,
    close: async () => {
      server.closeAllConnections();
      await Promise.all([new Promise((resolve) => server.close(resolve)), agent.destroy()]);
    },
  };
};
