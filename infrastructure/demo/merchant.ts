// A merchant of the demo: calls the interface as anybody would, and receives webhooks on loopback.
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConfigError } from '../boot/config.ts';

export interface Webhook {
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: string;
  readonly arrivedAt: number;
}

/** How long the tour waits for a webhook. */
const PATIENCE_MS = 15_000;

/** The slowest answer, a payment that waits to be visible, takes 5 s. */
const ANSWER_MS_MAX = 10_000;

export class DemoMerchant {
  readonly #baseUrl: string;
  readonly #apiKey: string;

  constructor(baseUrl: string, apiKey: string) {
    this.#baseUrl = baseUrl;
    this.#apiKey = apiKey;
  }

  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const headers = { apikey: this.#apiKey, 'content-type': 'application/json', 'idempotency-key': randomUUID() };
    const request = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const signal = AbortSignal.timeout(ANSWER_MS_MAX);
    const response = await fetch(this.#baseUrl + path, { ...request, signal }).catch(() => {
      throw new ConfigError(`nothing answers at ${this.#baseUrl}: start it first with npm start`);
    });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  }
}

export interface WebhookInbox {
  readonly url: string;
  /** The first webhook of this type, now or later. */
  next(type: string): Promise<Webhook>;
  close(): void;
}

export const openInbox = async (onWebhook: (webhook: Webhook) => void = () => undefined): Promise<WebhookInbox> => {
  const came: Webhook[] = [];
  let wake: () => void = () => undefined;
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const webhook = {
        headers: req.headers,
        rawBody: Buffer.concat(chunks).toString('utf8'),
        arrivedAt: performance.now(),
      };
      came.push(webhook);
      res.end();
      onWebhook(webhook);
      wake();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const next = async (type: string): Promise<Webhook> => {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const hit = came.find(({ headers }) => headers['x-acme-event-type'] === type);
      if (hit) return hit;
      const left = deadline - performance.now();
      if (left <= 0) throw new Error(`no ${type} arrived within ${PATIENCE_MS / 1000} s`);
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, left).unref();
      });
    }
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    next,
    close: () => server.closeAllConnections(),
  };
};

/** What every receiver should do (contract.md Headers on each delivery): true when the signature is right, in either family's form. */
export const isSigned = ({ headers, rawBody }: Webhook, secret: string): boolean => {
  const signature = String(headers['x-acme-signature']);
  const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
  const [, legacy] = /^sha256=([0-9a-f]{64})$/.exec(signature) ?? [];
  const sent = v1 ?? legacy;
  if (sent === undefined) return false;
  const mine = createHmac('sha256', secret)
    .update(t === undefined ? rawBody : `${t}.${rawBody}`)
    .digest();
  return timingSafeEqual(mine, Buffer.from(sent, 'hex'));
};
