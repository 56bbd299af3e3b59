// Configuration from the environment, typed and checked at once (decisions S1, S6). An empty variable is an unset one.
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { BadConnectionString, readConnectionString } from '../eventStore/eventStoreDb/connectionString.ts';

/** Names the variable; the program stops with exit code 2. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

export interface Config {
  readonly host: string;
  readonly port: number;
  /** No slash at the end. */
  readonly publicUrl: string;
  readonly dataDir: string;
  /** null: the embedded database. */
  readonly databaseUrl: string | null;
  /** EventStoreDB; null: the log is kept in Postgres. */
  readonly eventStoreUrl: string | null;
  readonly logLevel: LogLevel;
  /** Requests a minute for each API key; 0: no limit. */
  readonly rateLimitPerMinute: number;
  /** Whether webhooks of test endpoints may go to loopback and private addresses. */
  readonly webhookAllowPrivate: boolean;
  readonly trustProxy: boolean | number | string;
  /** null: /metrics answers on loopback only. */
  readonly metricsToken: string | null;
  /** 32 bytes; null: made in the data directory. */
  readonly secretsKey: Buffer | null;
}

const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

type Env = { readonly [name: string]: string | undefined };

const wrong = (name: string, must: string): never => {
  throw new ConfigError(`${name} ${must}`);
};
const read = (env: Env, name: string): string | null => env[name] || null;

const wholeNumber = (env: Env, name: string, min: number, max: number, fallback: number): number => {
  const text = read(env, name);
  if (text === null) return fallback;
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max
    ? value
    : wrong(name, `must be a whole number from ${min} to ${max}, not "${text}"`);
};

const yesOrNo = (env: Env, name: string, fallback: boolean): boolean => {
  const text = read(env, name);
  if (text === null) return fallback;
  return text === 'true' || text === 'false' ? text === 'true' : wrong(name, `must be true or false, not "${text}"`);
};

const publicUrl = (env: Env, host: string, port: number): string => {
  const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  const text = read(env, 'PUBLIC_URL') ?? `http://${shown}:${port}`;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username)
    return wrong('PUBLIC_URL', `must be an http or https URL without query, fragment and user, not "${text}"`);
  return url.href.replace(/\/+$/, '');
};

const postgresUrl = (env: Env): string | null => {
  const text = read(env, 'DATABASE_URL');
  if (text === null) return null;
  return /^postgres(ql)?:\/\//.test(text) && URL.canParse(text)
    ? text
    : wrong('DATABASE_URL', 'must be a postgres:// URL');
};

const IP_BITS: { readonly [version: number]: number } = { 4: 32, 6: 128 };
/** As Express takes them: a named range, an address, or an address with the length of its prefix. */
const isProxyRange = (text: string): boolean => {
  if (/^(loopback|linklocal|uniquelocal)$/.test(text)) return true;
  const [, address = '', prefix = '1'] = /^([^/]+)(?:\/([1-9]\d{0,2}))?$/.exec(text) ?? [];
  return Number(prefix) <= (IP_BITS[isIP(address)] ?? 0);
};

const eventStoreUrl = (env: Env): string | null => {
  const text = read(env, 'EVENTSTORE_URL');
  if (text === null) return null;
  try {
    readConnectionString(text);
    return text;
  } catch (error) {
    if (error instanceof BadConnectionString)
      return wrong('EVENTSTORE_URL', `must be an EventStoreDB connection string: ${error.message}`);
    throw error;
  }
};

const trustProxy = (env: Env): boolean | number | string => {
  const text = read(env, 'TRUST_PROXY');
  if (text === null || text === 'false') return false;
  if (/^[1-9]\d?$/.test(text)) return Number(text);
  return text.split(',').every((part) => isProxyRange(part.trim()))
    ? text
    : wrong('TRUST_PROXY', `must be false, a number of proxies from 1 to 99, or a list of addresses, not "${text}"`);
};

const SECRETS_KEY_BYTES = 32;
const secretsKey = (env: Env, isProduction: boolean): Buffer | null => {
  const text = read(env, 'SECRETS_KEY');
  if (text === null)
    return isProduction
      ? wrong('SECRETS_KEY', 'must be set in production: 32 random bytes in base64 (openssl rand -base64 32)')
      : null;
  const key = /^[A-Za-z0-9+/]{43}=$/.test(text) ? Buffer.from(text, 'base64') : Buffer.alloc(0);
  if (key.length !== SECRETS_KEY_BYTES)
    return wrong('SECRETS_KEY', 'must be 32 bytes in base64 (openssl rand -base64 32)');
  return new Set(key).size > 4 ? key : wrong('SECRETS_KEY', 'is not random: make one with openssl rand -base64 32');
};

const logLevel = (env: Env): LogLevel => {
  const text = read(env, 'LOG_LEVEL') ?? 'info';
  return (LOG_LEVELS as readonly string[]).includes(text)
    ? (text as LogLevel)
    : wrong('LOG_LEVEL', `must be one of ${LOG_LEVELS.join(', ')}, not "${text}"`);
};

const METRICS_TOKEN_LENGTH_MIN = 16;
const metricsToken = (env: Env): string | null => {
  const text = read(env, 'METRICS_TOKEN');
  return text === null || text.length >= METRICS_TOKEN_LENGTH_MIN
    ? text
    : wrong('METRICS_TOKEN', `must have at least ${METRICS_TOKEN_LENGTH_MIN} characters`);
};

const hostOf = (env: Env): string => {
  const text = read(env, 'HOST') ?? '127.0.0.1';
  return /^[A-Za-z0-9.:_-]{1,255}$/.test(text)
    ? text
    : wrong('HOST', `must be an address or a host name, not "${text}"`);
};

/** Throws ConfigError with one line that names the variable. */
export const loadConfig = (env: Env): Config => {
  const host = hostOf(env);
  const port = wholeNumber(env, 'PORT', 1, 65_535, 3000);
  const databaseUrl = postgresUrl(env);
  return {
    host,
    port,
    publicUrl: publicUrl(env, host, port),
    dataDir: resolve(read(env, 'DATA_DIR') ?? '.data'),
    databaseUrl,
    eventStoreUrl: eventStoreUrl(env),
    logLevel: logLevel(env),
    rateLimitPerMinute: wholeNumber(env, 'RATE_LIMIT_PER_MINUTE', 0, 1_000_000_000, 600),
    webhookAllowPrivate: yesOrNo(env, 'WEBHOOK_ALLOW_PRIVATE', databaseUrl === null),
    trustProxy: trustProxy(env),
    metricsToken: metricsToken(env),
    secretsKey: secretsKey(env, databaseUrl !== null || env['NODE_ENV'] === 'production'),
  };
};
