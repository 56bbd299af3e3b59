// One request and its outcome, under one deadline. It uses undici's dispatch handler, without streams or a promise per part.
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { AttemptOutcome } from '../../application/ports/webhookSender.ts';
import { AttemptFailure, describeFailure, errorLine } from './failure.ts';
import { type BodyReader, openBodyReader } from './responseBody.ts';
import { retryAfterMs } from './retryAfter.ts';
import type { Target } from './target.ts';

/** Sends a request. Always resolves. `deadlineMs` covers DNS, connect, TLS, headers and body. */
export function runAttempt(
  dispatcher: Dispatcher,
  request: Target & { readonly headers: Record<string, string>; readonly body: string },
  deadlineMs: number,
): Promise<AttemptOutcome> {
  return new Promise((resolve) => {
    const attempt = new Attempt(deadlineMs, resolve);
    try {
      dispatcher.dispatch({ ...request, method: 'POST' }, attempt);
    } catch (error) {
      attempt.fail(error);
    }
  });
}

/** Returns the outcome of an attempt that never reached the network. */
export const refusedOutcome = (error: string): AttemptOutcome => ({
  ok: false,
  statusCode: null,
  error,
  responseBody: null,
  retryAfterMs: null,
  durationMs: 0,
});

const isSuccess = (statusCode: number): boolean => statusCode >= 200 && statusCode < 300;
const isRedirect = (statusCode: number): boolean => statusCode >= 300 && statusCode < 400;

class Attempt implements Dispatcher.DispatchHandler {
  readonly #deadlineMs: number;
  readonly #resolve: (outcome: AttemptOutcome) => void;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #statusCode: number | null = null;
  #headers: IncomingHttpHeaders = {};
  #body: BodyReader | null = null;
  #answerComplete = false;
  #settled = false;

  constructor(deadlineMs: number, resolve: (outcome: AttemptOutcome) => void) {
    this.#deadlineMs = deadlineMs;
    this.#resolve = resolve;
    this.#timer = setTimeout(() => this.fail(new AttemptFailure('timeout', this.#missing())), deadlineMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The deadline passed while the connection was being opened, so nothing is sent.
    if (this.#settled) controller.abort(new Error('attempt over'));
    this.#controller = controller;
  }

  onResponseStart(_controller: unknown, statusCode: number, headers: IncomingHttpHeaders): void {
    if (statusCode < 200 || this.#settled) return;
    this.#statusCode = statusCode;
    this.#headers = headers;
    this.#body = openBodyReader(headers['content-encoding'], () => this.#settle(null));
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (!this.#settled) this.#body?.push(chunk);
  }

  onResponseEnd(): void {
    this.#answerComplete = true;
    if (!this.#settled) this.#body?.end();
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.fail(error);
  }

  fail(error: unknown): void {
    if (!this.#settled) this.#settle(describeFailure(error));
  }

  #settle(failure: string | null): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#body?.close();
    const statusCode = this.#statusCode;
    const error = statusCode === null || isSuccess(statusCode) ? failure : this.#statusError(statusCode);
    const outcome: AttemptOutcome = {
      ok: error === null,
      statusCode,
      error,
      responseBody: this.#body?.text() ?? null,
      retryAfterMs: statusCode === null ? null : retryAfterMs(statusCode, this.#headers['retry-after'], Date.now()),
      durationMs: Math.round(performance.now() - this.#startedAt),
    };
    if (this.#answerComplete) {
      // undici frees the connection in an immediate that it sets when this handler returns. Resolving after it lets the next send reuse it.
      queueMicrotask(() => setImmediate(this.#resolve, outcome));
      return;
    }
    // The rest of the answer is not read, so the socket is closed.
    this.#controller?.abort(new Error('attempt over'));
    this.#resolve(outcome);
  }

  /** The status code takes precedence over an error in the body. */
  #statusError(statusCode: number): string {
    if (!isRedirect(statusCode)) return errorLine('status', String(statusCode));
    const { location } = this.#headers;
    return errorLine('redirect', location === undefined ? String(statusCode) : `${statusCode} to ${location}`);
  }

  #missing(): string {
    const within = `within ${this.#deadlineMs} ms`;
    if (this.#statusCode !== null) return `answer not complete ${within}`;
    return this.#controller === null ? `no connection ${within}` : `no answer ${within}`;
  }
}
