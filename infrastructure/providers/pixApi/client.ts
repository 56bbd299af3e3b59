// Calls of the API: path, token, circuit breaker, and the classification of every answer.
import type { ConnectionTerms } from '../../../domain/providerConnection/connection.ts';
import { retryAfterMs } from '../../webhookSender/retryAfter.ts';
import type { Breaker } from './breaker.ts';
import type { PixApiNeeds } from './needs.ts';
import type { Preset } from './presets/preset.ts';
import { parseJson } from './reading.ts';
import { isApiError, type ProviderRefusal, refusalOf } from './refusal.ts';
import type { Tokens } from './token.ts';
import type { HttpResult, Transport } from './transport.ts';

export interface Call {
  readonly method: 'GET' | 'PUT' | 'PATCH';
  /** A path of the standard, which the preset completes, or the institution's own. */
  readonly path: string;
  readonly isOutsideStandard?: boolean;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly scopes: readonly string[];
  readonly headers?: Record<string, string>;
}

export type Reply =
  /** 2xx. The body may be anything; undefined if it is not JSON. */
  | { readonly kind: 'ok'; readonly body: unknown }
  /** The institution reports that the object doesn't exist. */
  | ({ readonly kind: 'absent' } & ProviderRefusal)
  /** 400, 409 or 422. */
  | ({ readonly kind: 'refused' } & ProviderRefusal)
  /** The call certainly had no effect: no byte was sent, or the answer is 401, 403, 404 or 429 (V7). */
  | { readonly kind: 'unavailable'; readonly why: string; readonly retryAfterMs: number | null }
  | { readonly kind: 'unknown'; readonly why: string };

interface ClientNeeds extends Pick<PixApiNeeds, 'log' | 'clock'> {
  readonly terms: ConnectionTerms;
  readonly preset: Preset;
  readonly tokens: Tokens;
  readonly transport: Transport;
  readonly breaker: Breaker;
  /** Never part of a reason. */
  readonly secrets: readonly string[];
}

/** Returns the method and path without ids. */
const nameOf = ({ method, path }: Call): string =>
  `${method} ${path
    .split('/')
    .filter((part) => /^[a-z]{1,20}$/.test(part))
    .join('/')}`;

const UNAUTHORIZED = 401;
const isFailure = ({ kind }: Reply): boolean => kind === 'unavailable' || kind === 'unknown';
const OPEN: Reply = { kind: 'unavailable', why: 'the circuit breaker is open', retryAfterMs: null };

export class PixClient {
  readonly #needs: ClientNeeds;

  constructor(needs: ClientNeeds) {
    this.#needs = needs;
  }

  /** Makes a call. Never throws. Repeats it once with a new token after 401, because the institution did nothing. */
  async call(call: Call): Promise<Reply> {
    const { breaker, log, terms } = this.#needs;
    const reply = await breaker.run(() => this.#authorised(call), isFailure, OPEN);
    if ('why' in reply && reply !== OPEN)
      log.warn(
        { connection: terms.connectionId, call: nameOf(call), outcome: reply.kind, why: reply.why },
        'provider call failed',
      );
    return reply;
  }

  async #authorised(call: Call): Promise<Reply> {
    const { tokens } = this.#needs;
    for (let isRenewed = false; ; isRenewed = true) {
      const token = await tokens.get(call.scopes);
      if (token.kind === 'noToken') return { kind: 'unavailable', why: `no token: ${token.why}`, retryAfterMs: null };
      const result = await this.#send(call, token.value);
      const isRejected = result.kind === 'answered' && result.status === UNAUTHORIZED;
      if (!isRejected || isRenewed) return this.#replyOf(result, token.value);
      tokens.forget(call.scopes, token.value);
    }
  }

  #send({ method, path, isOutsideStandard, query, body, headers }: Call, token: string): Promise<HttpResult> {
    const { terms, preset, transport } = this.#needs;
    const search = query === undefined ? '' : `?${new URLSearchParams(query)}`;
    return transport.send({
      method,
      url: terms.baseUrl + (isOutsideStandard ? path : preset.pathOf(path)) + search,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/json' }),
        ...preset.headers(terms),
        ...headers,
      },
      body: body ? JSON.stringify(body) : null,
    });
  }

  #replyOf(result: HttpResult, token: string): Reply {
    if (result.kind === 'notSent') return { kind: 'unavailable', why: result.why, retryAfterMs: null };
    if (result.kind === 'lost') return { kind: 'unknown', why: result.why };
    const { status, headers, text } = result;
    if (status >= 200 && status < 300) return { kind: 'ok', body: parseJson(text) };
    const body = parseJson(text);
    const refusal = refusalOf(result, body, [...this.#needs.secrets, token]);
    const { absentCodes } = this.#needs.preset;
    if (absentCodes.includes(refusal.code) || (status === 404 && isApiError(body)))
      return { kind: 'absent', ...refusal };
    const why = `HTTP ${status}`;
    switch (status) {
      case 400:
      case 409:
      case 422:
        return { kind: 'refused', ...refusal };
      case 401:
      case 403:
      case 404:
      case 429:
        return {
          kind: 'unavailable',
          why,
          retryAfterMs: retryAfterMs(status, headers['retry-after'], this.#needs.clock.now()),
        };
      default:
        return { kind: 'unknown', why };
    }
  }
}
