// A merchant on the command line: calls the public API and receives webhooks on loopback.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UsageError } from '../cli/command.ts';
import { type Config, ConfigError } from '../config/config.ts';
import { demoFile, readDemoAccount } from './demoAccount.ts';

/** The slowest response, of a payment that waits to be visible, takes 5 s. */
const ANSWER_MS_MAX = 10_000;

/** Returns the demo account. Throws ConfigError if it does not exist. */
export const demoAccountOf = async ({ databaseUrl, dataDir }: Config) => {
  if (databaseUrl !== null)
    throw new ConfigError('DATABASE_URL must not be set: the demo account exists only in the embedded database');
  return readDemoAccount(demoFile(dataDir));
};

export class Merchant {
  readonly #baseUrl: string;
  readonly #apiKey: string;

  constructor(baseUrl: string, apiKey: string) {
    this.#baseUrl = baseUrl;
    this.#apiKey = apiKey;
  }

  /** Uses API_KEY, or else the demo account. Throws ConfigError if there is neither. */
  static async of(config: Config): Promise<Merchant> {
    const { apiKey, publicUrl, databaseUrl } = config;
    if (apiKey !== null) return new Merchant(publicUrl, apiKey);
    if (databaseUrl === null) return Merchant.ofDemo(config);
    throw new ConfigError('API_KEY must be set to a key of the account: with DATABASE_URL there is no demo account');
  }

  /** Uses the test key of the demo account. Throws ConfigError if there is no demo account. */
  static async ofDemo(config: Config): Promise<Merchant> {
    const { baseUrl, testApiKey } = await demoAccountOf(config);
    return new Merchant(baseUrl, testApiKey);
  }

  get mode(): 'test' | 'live' {
    return this.#apiKey.startsWith('ak_test_') ? 'test' : 'live';
  }

  /** Returns the body of a 2xx response. Throws ConfigError if there is no response, and UsageError for any other status. */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const headers = { apikey: this.#apiKey, 'content-type': 'application/json', 'idempotency-key': randomUUID() };
    const request = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const signal = AbortSignal.timeout(ANSWER_MS_MAX);
    const response = await fetch(this.#baseUrl + path, { ...request, signal }).catch(() => {
      throw new ConfigError(`no response from ${this.#baseUrl}: run npm start first`);
    });
    const text = await response.text();
    if (response.ok) return JSON.parse(text) as T;
    throw new UsageError(`${method} ${path} failed with ${response.status}: ${reasonOf(text)}`);
  }

  /** Registers a webhook endpoint for these events while `work` runs. `work` gets its id and secret. */
  async subscribed<T>(
    url: string,
    events: readonly string[],
    work: (endpoint: { readonly id: string; readonly secret: string }) => Promise<T>,
  ): Promise<T> {
    const endpoint = await this.call<{ id: string; secret: string }>('POST', '/v1/webhooks/endpoints', { url, events });
    try {
      return await work(endpoint);
    } finally {
      await this.call('DELETE', `/v1/webhooks/endpoints/${endpoint.id}`);
    }
  }
}

/** Returns `<message> (<code>)` of an API error, or any other body unchanged. */
const reasonOf = (text: string): string => {
  try {
    const { error } = JSON.parse(text) as { error: { message: string; code: string } };
    return `${error.message} (${error.code})`;
  } catch {
    return text;
  }
};

export interface Webhook {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values alternate, in the order sent. */
  readonly rawHeaders: readonly string[];
  readonly rawBody: Buffer;
  /** On a monotonic clock. */
  readonly arrivedAtMs: number;
}

export interface WebhookAnswer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

export const NOTHING_TO_SAY: WebhookAnswer = { status: 200, headers: {}, body: Buffer.alloc(0) };

interface WebhookInbox extends AsyncDisposable {
  readonly url: string;
}

/** Opens a receiver on a free port of loopback; `answer` must not reject. */
export const openInbox = async (answer: (webhook: Webhook) => Promise<WebhookAnswer>): Promise<WebhookInbox> => {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return; // the sender died, or gave up
    }
    const { method = '', headers, rawHeaders } = request;
    const rawBody = Buffer.concat(chunks);
    const answered = await answer({ method, headers, rawHeaders, rawBody, arrivedAtMs: performance.now() });
    response.writeHead(answered.status, answered.headers).end(answered.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
