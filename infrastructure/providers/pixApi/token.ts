// Access tokens (OAuth2 client credentials, RFC 6749 §4.4), cached per set of scopes. One caller renews; the others wait for it.
import type { Stopwatch } from '../../../application/ports/system.ts';
import type { ConnectionTerms } from '../../../domain/providerConnection/connection.ts';
import type { Preset } from './presets/preset.ts';
import { at, countOf, parseJson, textAt } from './reading.ts';
import { refusalOf } from './refusal.ts';
import type { HttpRequest, HttpResult, Transport } from './transport.ts';

interface Token {
  readonly kind: 'token';
  readonly value: string;
  /** The scopes that the institution reports as granted; null: not reported. */
  readonly granted: readonly string[] | null;
  /** The institution's clock (header Date), in milliseconds since 1970, or null. */
  readonly serverTime: number | null;
}
export type TokenResult = Token | { readonly kind: 'noToken'; readonly why: string };

/** The lifetime if the institution states none. */
const UNSTATED_LIFETIME_MS = 60_000;
/** A token is renewed before its end by this part of its lifetime, at most 30 s. */
const MARGIN_PART = 10;
const MARGIN_MAX_MS = 30_000;

interface Cached {
  readonly token: Token;
  readonly freshUntil: number;
}

interface TokenNeeds {
  readonly terms: Pick<ConnectionTerms, 'tokenUrl' | 'clientId'>;
  readonly clientSecret: string;
  readonly preset: Preset;
  readonly transport: Transport;
  readonly stopwatch: Stopwatch;
}

export class Tokens {
  readonly #needs: TokenNeeds;
  readonly #cached = new Map<string, Cached>();
  readonly #renewals = new Map<string, Promise<TokenResult>>();

  constructor(needs: TokenNeeds) {
    this.#needs = needs;
  }

  /** Returns a token for the scopes. Never throws. */
  async get(scopes: readonly string[]): Promise<TokenResult> {
    const key = scopes.join(' ');
    const cached = this.#cached.get(key);
    if (cached !== undefined && this.#needs.stopwatch.elapsedMs() < cached.freshUntil) return cached.token;
    const running = this.#renewals.get(key);
    if (running !== undefined) return running;
    const renewal = this.#renew(key).finally(() => this.#renewals.delete(key));
    this.#renewals.set(key, renewal);
    return renewal;
  }

  /** The institution rejected the token. */
  forget(scopes: readonly string[], token: string): void {
    const key = scopes.join(' ');
    if (this.#cached.get(key)?.token.value === token) this.#cached.delete(key);
  }

  async #renew(scope: string): Promise<TokenResult> {
    const { transport, stopwatch } = this.#needs;
    const askedAt = stopwatch.elapsedMs();
    const result = await transport.send(this.#request(scope));
    if (result.kind !== 'answered') return { kind: 'noToken', why: result.why };
    const body = parseJson(result.text);
    if (result.status !== 200 && result.status !== 201) {
      const { reason } = refusalOf(result, body, [this.#needs.clientSecret, this.#basic]);
      return { kind: 'noToken', why: reason };
    }
    const value = textAt(body, 'access_token');
    // A token with other characters could break out of the header.
    if (value === null || !/^[\x21-\x7e]+$/.test(value)) return { kind: 'noToken', why: 'the answer has no token' };
    const token: Token = {
      kind: 'token',
      value,
      granted: textAt(body, 'scope')?.split(/[\s,]+/) ?? null,
      serverTime: dateOf(result),
    };
    const seconds = countOf(at(body, 'expires_in'));
    const lifetimeMs = seconds === null ? UNSTATED_LIFETIME_MS : seconds * 1_000;
    const margin = Math.min(lifetimeMs / MARGIN_PART, MARGIN_MAX_MS);
    this.#cached.set(scope, { token, freshUntil: askedAt + lifetimeMs - margin });
    return token;
  }

  get #basic(): string {
    const { terms, clientSecret } = this.#needs;
    return Buffer.from(`${terms.clientId}:${clientSecret}`).toString('base64');
  }

  #request(scope: string): HttpRequest {
    const { terms, clientSecret, preset } = this.#needs;
    const { credentials, body } = preset.token;
    const fields = {
      grant_type: 'client_credentials',
      ...(scope !== '' && { scope }),
      ...(credentials === 'body' && { client_id: terms.clientId, client_secret: clientSecret }),
    };
    return {
      method: 'POST',
      url: terms.tokenUrl,
      headers: {
        accept: 'application/json',
        'content-type': body === 'json' ? 'application/json' : 'application/x-www-form-urlencoded',
        ...(credentials === 'basic' && { authorization: `Basic ${this.#basic}` }),
      },
      body: body === 'json' ? JSON.stringify(fields) : new URLSearchParams(fields).toString(),
    };
  }
}

const dateOf = ({ headers }: Extract<HttpResult, { kind: 'answered' }>): number | null => {
  const millis = Date.parse(headers.date ?? '');
  return Number.isNaN(millis) ? null : millis;
};
