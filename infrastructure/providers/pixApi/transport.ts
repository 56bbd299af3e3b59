// Sends one request to the institution and reads its bounded answer. It knows whether any byte of the request was sent (V7).
import type { IncomingHttpHeaders } from 'node:http';
import type { SecureContext } from 'node:tls';
import { Agent, type Dispatcher } from 'undici';
import { openDialer } from '../../webhookSender/dialer.ts';
import { describeFailure } from '../../webhookSender/failure.ts';
import { cachedResolver, dnsResolver, hostsFile, hostsFirst } from '../../webhookSender/resolver.ts';
import { isRefusal, parseTarget } from '../../webhookSender/target.ts';
import type { Timeouts } from './needs.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'PUT' | 'PATCH' | 'POST';
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
}

export type HttpResult =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      /** null: too long, or encoded in a way that was not requested. */
      readonly text: string | null;
    }
  /** No byte of the request was sent. `why` contains no secrets. */
  | { readonly kind: 'notSent'; readonly why: string }
  /** The request may have had its effect. */
  | { readonly kind: 'lost'; readonly why: string };

export interface Transport {
  /** Always resolves. Never follows redirects. */
  send(request: HttpRequest): Promise<HttpResult>;
  close(): void;
}

/** A page of 1,000 Pix has about 1 MB. */
const MAX_ANSWER_BYTES = 8_388_608;
/** Below the idle timeout of common proxies, so that a request rarely meets a connection that is being closed. */
const IDLE_MS = 4_000;
const CONNECTIONS = 32;
/** Firewalls of institutions reject requests without a user agent; an encoded answer would not be read. */
const HEADERS = { 'user-agent': 'Quita', 'accept-encoding': 'identity' };

interface TransportOptions {
  readonly secureContext: SecureContext;
  readonly allowPrivate: boolean;
  readonly timeouts: Timeouts;
}

export const openTransport = ({ secureContext, allowPrivate, timeouts }: TransportOptions): Transport => {
  const resolver = hostsFirst(hostsFile(), cachedResolver(dnsResolver()));
  const dialer = openDialer({ resolver, privateAllowed: allowPrivate, deadlineMs: timeouts.connectMs, secureContext });
  const agent = new Agent({
    connect: dialer.connect,
    allowH2: false,
    pipelining: 1,
    connections: CONNECTIONS,
    // The request's own deadline is the only one.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
  });
  return {
    send: ({ url, method, headers, body }) => {
      if (!allowPrivate && /^http:/i.test(url))
        return Promise.resolve({ kind: 'notSent', why: 'url must use https unless private addresses are allowed' });
      const target = parseTarget(url, { mode: 'test', privateAllowed: allowPrivate });
      if (isRefusal(target)) return Promise.resolve({ kind: 'notSent', why: target.message });
      return new Promise((resolve) => {
        const exchange = new Exchange(timeouts.totalMs, resolve);
        try {
          agent.dispatch({ ...target, method, headers: { ...HEADERS, ...headers }, body }, exchange);
        } catch (error) {
          exchange.fail(error);
        }
      });
    },
    close: () => {
      dialer.close();
      resolver.close();
      void agent.destroy();
    },
  };
};

class Exchange implements Dispatcher.DispatchHandler {
  readonly #resolve: (result: HttpResult) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | null = null;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #size = 0;
  #settled = false;

  constructor(deadlineMs: number, resolve: (result: HttpResult) => void) {
    this.#resolve = resolve;
    this.#timer = setTimeout(() => this.fail(new Error(`no complete answer within ${deadlineMs} ms`)), deadlineMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The deadline passed while the connection was being opened, so nothing is sent.
    if (this.#settled) controller.abort(new Error('request over'));
    this.#controller = controller;
  }

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size <= MAX_ANSWER_BYTES) this.#chunks.push(chunk);
    else this.#answer(null);
  }

  onResponseEnd(): void {
    const isEncoded = (this.#headers['content-encoding'] ?? 'identity') !== 'identity';
    this.#answer(isEncoded ? null : Buffer.concat(this.#chunks).toString('utf8'));
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.fail(error);
  }

  fail(error: unknown): void {
    this.#settle({ kind: this.#controller === null ? 'notSent' : 'lost', why: describeFailure(error) });
  }

  #answer(text: string | null): void {
    this.#settle({ kind: 'answered', status: this.#status, headers: this.#headers, text });
  }

  #settle(result: HttpResult): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#timer);
    if (result.kind === 'lost' || (result.kind === 'answered' && result.text === null))
      this.#controller?.abort(new Error('request over'));
    this.#resolve(result);
  }
}
