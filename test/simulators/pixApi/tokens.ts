// Access tokens: OAuth2 client credentials (RFC 6749 section 4.4).
import type { IncomingHttpHeaders } from 'node:http';
import type { Account } from './books.ts';
import { letters } from './ids.ts';
import { problem, Refusal } from './refusal.ts';
import type { Settings } from './settings.ts';

interface Grant {
  readonly account: Account;
  readonly scopes: readonly string[];
  readonly expiresAt: number;
}

export interface TokenRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const oauthError = (status: number, error: string): Refusal => new Refusal(status, 'application/json', { error });

/** Reads a form, or JSON as Efí’s official SDK sends it (sdk-node-apis-efi 1.4). */
const fieldsOf = ({ headers, body }: TokenRequest): Record<string, unknown> => {
  if (!headers['content-type']?.includes('json')) return Object.fromEntries(new URLSearchParams(body));
  try {
    const fields: unknown = JSON.parse(body);
    return typeof fields === 'object' && fields !== null ? (fields as Record<string, unknown>) : {};
  } catch {
    throw oauthError(400, 'invalid_request');
  }
};

/** Returns client id and secret, from Basic authentication or from the form. */
const credentialsOf = (
  authorization: string | undefined,
  fields: Record<string, unknown>,
): readonly [string, string] => {
  const [, basic] = /^Basic +(\S+)$/i.exec(authorization ?? '') ?? [];
  if (basic === undefined) return [String(fields['client_id'] ?? ''), String(fields['client_secret'] ?? '')];
  const [id = '', ...secret] = Buffer.from(basic, 'base64').toString('utf8').split(':');
  return [id, secret.join(':')];
};

export class Tokens {
  readonly #grants = new Map<string, Grant>();
  readonly #accounts: ReadonlyMap<string, Account>;
  readonly #settings: Settings;

  constructor(accounts: ReadonlyMap<string, Account>, settings: Settings) {
    this.#accounts = accounts;
    this.#settings = settings;
  }

  /** Returns the body of the token response. Throws Refusal as specified in RFC 6749 section 5.2. */
  issue(request: TokenRequest): object {
    const fields = fieldsOf(request);
    const [id, secret] = credentialsOf(request.headers.authorization, fields);
    const account = this.#accounts.get(id);
    if (account === undefined || account.client.clientSecret !== secret) throw oauthError(401, 'invalid_client');
    if (fields['grant_type'] !== 'client_credentials') throw oauthError(400, 'unsupported_grant_type');
    const wanted = String(fields['scope'] ?? '')
      .split(/\s+/)
      .filter(Boolean);
    const scopes = account.client.scopes.filter((scope) => wanted.length === 0 || wanted.includes(scope));
    if (scopes.length === 0) throw oauthError(400, 'invalid_scope');
    const token = letters(48);
    const { tokenLifetimeSeconds, tokenLifetimeAs } = this.#settings;
    this.#grants.set(token, { account, scopes, expiresAt: Date.now() + tokenLifetimeSeconds * 1_000 });
    return {
      access_token: token,
      token_type: 'Bearer',
      ...(tokenLifetimeAs === 'omitted'
        ? {}
        : { expires_in: tokenLifetimeAs === 'text' ? String(tokenLifetimeSeconds) : tokenLifetimeSeconds }),
      scope: scopes.join(' '),
    };
  }

  /** Returns the account of the request's token. Throws Refusal: 401 without a valid token, 403 without the scope. */
  accountOf(headers: IncomingHttpHeaders, scope: string): Account {
    const grant = this.#grants.get(this.#bearerOf(headers));
    if (grant === undefined || grant.expiresAt <= Date.now()) throw problem('TokenInvalido');
    if (!grant.scopes.includes(scope)) throw problem('AcessoNegado', { razao: `O escopo ${scope} é necessário.` });
    return grant.account;
  }

  expire(headers: IncomingHttpHeaders): void {
    this.#grants.delete(this.#bearerOf(headers));
  }

  expireAll(): void {
    this.#grants.clear();
  }

  #bearerOf({ authorization }: IncomingHttpHeaders): string {
    return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
  }
}
