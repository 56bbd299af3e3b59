// Reads and checks the configuration from environment variables (rules S1, S6). An empty variable counts as unset.
import { resolve } from 'node:path';
import pg from 'pg';
import { readVkey } from '../../application/audit/signedNote.ts';
import { type AuditSettings, anchorPlace } from '../../application/ports/auditAccess.ts';
import { isEmailAddress } from '../../domain/kernel/email.ts';
import { isLoopbackHost } from '../../http/kernel/address.ts';
import {
  BadConnectionString,
  type ConnectionSettings,
  readConnectionString,
} from '../eventStore/eventStoreDb/eventStoreDb.ts';
import type { S3Location } from '../evidence/s3Storage.ts';
import { SECRETS_KEY_BYTES } from '../secrets/keyring.ts';
import { isPredictable } from '../secrets/predictableKey.ts';
import { proxyListProblem } from './trustProxy.ts';

/** An invalid variable, which the message names. The program exits with code 2. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** The name of a header, and its value for a valid certificate. */
interface CertificateHeader {
  readonly name: string;
  readonly value: string;
}

export interface Listener {
  readonly host: string;
  readonly port: number;
}

/** Rule D3. */
const REQUEST_LOG_DAYS_MAX = 30;

const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

type Env = { readonly [name: string]: string | undefined };

interface Rules {
  readonly isProduction: boolean;
  readonly allowPlainConnections: boolean;
}

const invalid = (name: string, must: string): never => {
  throw new ConfigError(`${name} ${must}`);
};
const read = (env: Env, name: string): string | null => env[name] || null;

const wholeNumber = (env: Env, name: string, min: number, max: number, fallback: number): number => {
  const text = read(env, name);
  if (text === null) return fallback;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max
    ? value
    : invalid(name, `must be a whole number from ${min} to ${max}, not "${text}"`);
};

const yesOrNo = (env: Env, name: string, fallback: boolean): boolean => {
  const text = read(env, name);
  if (text === null) return fallback;
  return text === 'true' || text === 'false' ? text === 'true' : invalid(name, `must be true or false, not "${text}"`);
};

const publicUrl = (env: Env, host: string, port: number, isProduction: boolean): string => {
  const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  const text = read(env, 'PUBLIC_URL') ?? `http://${shown}:${port}`;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol) || /[?#]/.test(url.href) || url.username || url.password)
    return invalid('PUBLIC_URL', `must be an http or https URL without query, fragment and user, not "${text}"`);
  if (isProduction && url.protocol === 'http:' && !isLoopbackHost(url.hostname))
    return invalid('PUBLIC_URL', `must be https in production unless it is loopback, not "${text}"`);
  return url.href.replace(/\/+$/, '');
};

/** Adds a host to URLs without one (`postgres://user@/db?host=/run`, for Unix sockets), because no URL parser accepts them. */
const withHost = (text: string): string => text.replace(/^(postgres(?:ql)?:\/\/[^/?#]*@)(?=\/)/, '$1localhost');
/** `pg` treats these modes as verify-full but warns at every start; writing verify-full avoids the warning. */
const withVerifyFull = (text: string): string =>
  /[?&]uselibpqcompat=true/.test(text)
    ? text
    : text.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');

const postgresUrl = (env: Env): string | null => {
  const text = read(env, 'DATABASE_URL');
  if (text === null) return null;
  const url = withVerifyFull(withHost(text));
  return /^postgres(ql)?:\/\//.test(url) && URL.canParse(url)
    ? url
    : invalid('DATABASE_URL', 'must be a postgres:// URL');
};

const PLAIN = 'or, in a private network, set ALLOW_PLAIN_CONNECTIONS=true';
/** Returns why DATABASE_URL is unacceptable, or null if it can be read and the connection is safe. */
const connectionProblem = (env: Env, databaseUrl: string, mayBePlain: boolean): string | null => {
  const [, sslmode = ''] = /[?&]sslmode=([^&]*)/.exec(read(env, 'DATABASE_URL') ?? '') ?? [];
  try {
    return isPlainPostgres(databaseUrl, sslmode) && !mayBePlain
      ? `must use TLS to another host: add sslmode=verify-full (and sslrootcert=… for a private certificate authority), ${PLAIN}`
      : null;
  } catch {
    return 'must be a valid postgres:// URL with readable certificate files';
  }
};

/** Returns the problem of an EventStoreDB connection string, or null if it may be used. */
export const judgeEventStoreUrl = (text: string, { isProduction, allowPlainConnections }: Rules): string | null => {
  try {
    const isPlain = isPlainEventStore(readConnectionString(text));
    return isPlain && isProduction && !allowPlainConnections
      ? `must use TLS to another host: remove tls=false, ${PLAIN}`
      : null;
  } catch (error) {
    if (error instanceof BadConnectionString) return `must be an EventStoreDB connection string: ${error.message}`;
    throw error;
  }
};

/** EventStoreDB's default password of the users admin and ops. */
const DEFAULT_PASSWORD = 'changeit';
const hasDefaultPassword = ({ credentials, hosts }: ConnectionSettings): boolean =>
  credentials?.password === DEFAULT_PASSWORD && !hosts.every(({ address }) => isLocal(address));

const eventStoreUrl = (env: Env, rules: Rules): string | null => {
  const text = read(env, 'EVENTSTORE_URL');
  if (text === null) return null;
  const problem = judgeEventStoreUrl(text, rules);
  if (problem !== null) return invalid('EVENTSTORE_URL', problem);
  return rules.isProduction && hasDefaultPassword(readConnectionString(text))
    ? invalid('EVENTSTORE_URL', 'must not use EventStoreDB’s default password: change it on the server')
    : text;
};

const trustProxy = (env: Env): boolean | number | string => {
  const text = read(env, 'TRUST_PROXY');
  if (text === null || text === 'false') return false;
  if (/^[1-9]\d?$/.test(text)) return Number(text);
  const problem = proxyListProblem(text);
  return problem === null ? text : invalid('TRUST_PROXY', problem);
};

/** `name=value`. Without a trusted proxy every client could send the header itself. */
const clientCertificateHeader = (env: Env): CertificateHeader | null => {
  const variable = 'CLIENT_CERTIFICATE_HEADER';
  const text = read(env, 'CLIENT_CERTIFICATE_HEADER');
  if (text === null) return null;
  const [, name = '', value = ''] = /^([A-Za-z0-9-]{1,64})=([\x21-\x7e]{1,256})$/.exec(text) ?? [];
  if (name === '') return invalid(variable, `must be like X-Client-Verify=SUCCESS, not "${text}"`);
  return trustProxy(env) === false
    ? invalid(variable, 'must be empty unless TRUST_PROXY names the proxy that sends the header')
    : { name, value };
};

const secretsKeyFrom = (name: string, text: string): Buffer => {
  const key = /^[A-Za-z0-9+/]{43}=$/.test(text) ? Buffer.from(text, 'base64') : Buffer.alloc(0);
  return key.length === SECRETS_KEY_BYTES ? key : invalid(name, 'must be 32 bytes in base64 (openssl rand -base64 32)');
};

const secretsKey = (env: Env, isProduction: boolean, isNeeded: boolean): Buffer | null => {
  const name = 'SECRETS_KEY';
  const text = read(env, name);
  if (text === null)
    return isProduction && isNeeded
      ? invalid(name, 'must be set in production: 32 random bytes in base64 (openssl rand -base64 32)')
      : null;
  const key = secretsKeyFrom(name, text);
  return isProduction && isPredictable(key)
    ? invalid(name, 'must be random, but its bytes follow a pattern: generate a key with openssl rand -base64 32')
    : key;
};

/** Keys separated by commas, used during a rotation. Predictable keys are allowed, so that a rotation can replace them. */
const secretsKeyFallbacks = (env: Env): readonly Buffer[] => {
  const name = 'SECRETS_KEY_FALLBACKS';
  const text = read(env, 'SECRETS_KEY_FALLBACKS');
  if (text === null) return [];
  if (read(env, 'SECRETS_KEY') === null) return invalid(name, 'must be empty unless SECRETS_KEY is set');
  return text.split(',').map((part) => secretsKeyFrom(name, part.trim()));
};

const logLevel = (env: Env): LogLevel => {
  const text = read(env, 'LOG_LEVEL') ?? 'info';
  return (LOG_LEVELS as readonly string[]).includes(text)
    ? (text as LogLevel)
    : invalid('LOG_LEVEL', `must be one of ${LOG_LEVELS.join(', ')}, not "${text}"`);
};

const METRICS_TOKEN_LENGTH_MIN = 16;
const metricsToken = (env: Env, isProduction: boolean): string | null => {
  const text = read(env, 'METRICS_TOKEN');
  if (text === null) return null;
  if (text.length < METRICS_TOKEN_LENGTH_MIN)
    return invalid('METRICS_TOKEN', `must have at least ${METRICS_TOKEN_LENGTH_MIN} characters`);
  if (!/^[\x21-\x7e]+$/.test(text))
    return invalid('METRICS_TOKEN', 'must have only ASCII characters without spaces and line breaks');
  return isProduction && new Set(text).size <= 4
    ? invalid('METRICS_TOKEN', 'must be random: generate one with openssl rand -hex 24')
    : text;
};

const smtpUrl = (env: Env): string | null => {
  const text = read(env, 'SMTP_URL');
  if (text === null) return null;
  const url = URL.parse(text);
  return url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== ''
    ? text
    : invalid('SMTP_URL', 'must be like smtp://user:password@host:587 or smtps://user:password@host:465');
};

/** With SMTP_URL the address is required, because the mail server must be allowed to send for it. */
const mailFrom = (env: Env): string => {
  const text = read(env, 'MAIL_FROM');
  if (text === null)
    return read(env, 'SMTP_URL') === null ? 'quita@localhost' : invalid('MAIL_FROM', 'must be set with SMTP_URL');
  return isEmailAddress(text) ? text : invalid('MAIL_FROM', `must be an email address, not "${text}"`);
};

/** `s3://bucket`, with an optional prefix, region and endpoint. */
const evidenceStorage = (env: Env, { isProduction, allowPlainConnections }: Rules): S3Location | null => {
  const text = read(env, 'EVIDENCE_STORAGE');
  if (text === null) return null;
  const must = (what: string): never => invalid('EVIDENCE_STORAGE', what);
  const [, bucket = '', path = '', query = ''] =
    /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w./-]*))?(?:\?(.*))?$/.exec(text) ?? [];
  if (bucket === '')
    return must(
      `must be like s3://bucket, s3://bucket/prefix or s3://bucket?region=…&endpoint=https://…, not "${text}"`,
    );
  const params = new URLSearchParams(query);
  const unknown = [...params.keys()].find((name) => name !== 'region' && name !== 'endpoint');
  if (unknown !== undefined) return must(`must have only the parameters region and endpoint, not "${unknown}"`);
  const endpoint = params.get('endpoint');
  if (endpoint !== null && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ''))
    return must(`must have an http or https URL as its endpoint, not "${endpoint}"`);
  const isPlain = endpoint?.startsWith('http:') && !isLoopbackHost(new URL(endpoint).hostname);
  if (isPlain && isProduction && !allowPlainConnections) return must(`must have an https endpoint, ${PLAIN}`);
  const prefix = path.replace(/^\/+|\/+$/g, '');
  return { bucket, prefix: prefix && `${prefix}/`, region: params.get('region'), endpoint };
};

const rateLimit = (env: Env, isProduction: boolean): number => {
  const perMinute = wholeNumber(env, 'RATE_LIMIT_PER_MINUTE', 0, 1_000_000_000, 600);
  return isProduction && perMinute === 0
    ? invalid(
        'RATE_LIMIT_PER_MINUTE',
        'must be at least 1 in production: without a limit one key could overload the process',
      )
    : perMinute;
};

const apiKey = (env: Env): string | null => {
  const text = read(env, 'API_KEY');
  return text === null || /^ak_(test|live)_[\w-]{32}$/.test(text)
    ? text
    : invalid('API_KEY', 'must be an API key: ak_test_… or ak_live_… followed by 32 characters');
};

const hostOf = (env: Env, name: 'HOST' | 'OPS_HOST'): string => {
  const text = read(env, name) ?? '127.0.0.1';
  return /^[A-Za-z0-9.:_-]{1,255}$/.test(text)
    ? text
    : invalid(name, `must be an address or a host name, not "${text}"`);
};

const opsListener = (env: Env, main: Listener): Listener | null => {
  if (read(env, 'OPS_PORT') === null)
    return read(env, 'OPS_HOST') === null ? null : invalid('OPS_PORT', 'must be set with OPS_HOST');
  const listener = { host: hostOf(env, 'OPS_HOST'), port: wholeNumber(env, 'OPS_PORT', 1, 65_535, 0) };
  return listener.host === main.host && listener.port === main.port
    ? invalid(
        'OPS_PORT',
        `must differ from PORT, or OPS_HOST from HOST: ${main.host}:${main.port} is the main listener`,
      )
    : listener;
};

const listIn = (env: Env, name: string): readonly string[] =>
  (read(env, name) ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

const auditSettings = (env: Env): AuditSettings => {
  const witnesses = listIn(env, 'AUDIT_WITNESSES');
  const unknown = witnesses.find((vkey) => readVkey(vkey)?.kind !== 'cosignature');
  if (unknown !== undefined)
    invalid('AUDIT_WITNESSES', `must list vkeys of witnesses, like witness.example.com+0123abcd+B…, not "${unknown}"`);
  const anchors = listIn(env, 'AUDIT_ANCHORS');
  const wrong = anchors.find((anchor) => anchorPlace(anchor) === null);
  if (wrong !== undefined)
    invalid('AUDIT_ANCHORS', `must list file paths, https URLs and email addresses, not "${wrong}"`);
  return {
    isPublic: yesOrNo(env, 'AUDIT_PUBLIC_CHECKPOINTS', false),
    witnesses,
    anchors,
    inWebhooks: yesOrNo(env, 'AUDIT_CHECKPOINT_HEADER', false),
  };
};

const configOf = (env: Env, needsSecretsKey: boolean) => {
  const host = hostOf(env, 'HOST');
  const port = wholeNumber(env, 'PORT', 1, 65_535, 3000);
  const databaseUrl = postgresUrl(env);
  const isProduction = databaseUrl !== null || env['NODE_ENV'] === 'production';
  const key = secretsKey(env, isProduction, needsSecretsKey);
  const allowPlainConnections = yesOrNo(env, 'ALLOW_PLAIN_CONNECTIONS', false);
  const problem = databaseUrl === null ? null : connectionProblem(env, databaseUrl, allowPlainConnections);
  if (problem !== null) invalid('DATABASE_URL', problem);
  return {
    host,
    port,
    /** Listener for operators; null: the main listener serves them. */
    opsListener: opsListener(env, { host, port }),
    /** Without a slash at the end. */
    publicUrl: publicUrl(env, host, port, isProduction),
    dataDir: resolve(read(env, 'DATA_DIR') ?? '.data'),
    /** Whether DATABASE_URL is set or NODE_ENV is production (rule S6). */
    isProduction,
    /** Whether the stores may be reached on other hosts without TLS. */
    allowPlainConnections,
    /** null: the embedded database. */
    databaseUrl,
    /** EventStoreDB; null: the event log is in Postgres. */
    eventStoreUrl: eventStoreUrl(env, { isProduction, allowPlainConnections }),
    logLevel: logLevel(env),
    /** Requests per minute and API key; 0 means no limit, which production doesn't allow. */
    rateLimitPerMinute: rateLimit(env, isProduction),
    /** Full years after the end of a payment for which its personal data must be kept. */
    retentionYears: wholeNumber(env, 'RETENTION_YEARS', 0, 100, 5),
    /** Whether personal data is erased when its retention has passed. */
    eraseAfterRetention: yesOrNo(env, 'ERASE_AFTER_RETENTION', false),
    /** How many real days a webhook delivery is kept after its last event. */
    webhookRetentionDays: wholeNumber(env, 'WEBHOOK_RETENTION_DAYS', 1, 36_500, 90),
    /** How many days requests stay in the request log. */
    requestLogDays: wholeNumber(env, 'REQUEST_LOG_DAYS', 1, REQUEST_LOG_DAYS_MAX, REQUEST_LOG_DAYS_MAX),
    /** Whether webhooks in test mode may be sent to loopback and private addresses. */
    webhookAllowPrivate: yesOrNo(env, 'WEBHOOK_ALLOW_PRIVATE', !isProduction),
    trustProxy: trustProxy(env),
    /** The header with which a trusted proxy states that it verified a client certificate; null: no proxy sends one. */
    clientCertificateHeader: clientCertificateHeader(env),
    /** null: /metrics is served to loopback only, and not at all if PUBLIC_URL isn't loopback. */
    metricsToken: metricsToken(env, isProduction),
    /** Storage for files of dispute cases; null: the data directory. */
    evidenceStorage: evidenceStorage(env, { isProduction, allowPlainConnections }),
    /** How many seconds an upload grant is valid. */
    evidenceGrantSeconds: wholeNumber(env, 'EVIDENCE_GRANT_SECONDS', 1, 43_200, 900),
    /** How many seconds a link to a file is valid. */
    evidenceViewSeconds: wholeNumber(env, 'EVIDENCE_VIEW_SECONDS', 1, 43_200, 300),
    /** Bytes that must stay free on the disk of the files of dispute cases. */
    evidenceFreeSpace: wholeNumber(env, 'EVIDENCE_FREE_SPACE', 0, Number.MAX_SAFE_INTEGER, 1_000_000_000),
    /** `smtp://` or `smtps://`; null: mail is written to files in the data directory. */
    smtpUrl: smtpUrl(env),
    /** The sender's address. */
    mailFrom: mailFrom(env),
    /** API key that the command line uses to act as a merchant; null: the demo account's. */
    apiKey: apiKey(env),
    /** 32 bytes; seals new secrets. null: generated in the data directory. */
    secretsKey: key,
    /** Older keys, which only open secrets that they sealed. */
    secretsKeyFallbacks: secretsKeyFallbacks(env),
    audit: auditSettings(env),
  };
};

export type Config = Readonly<ReturnType<typeof configOf>>;

/** Reads the configuration of a program. Throws ConfigError, which names the variable. */
export const loadConfig = (env: Env): Config => configOf(env, true);

/** Reads the configuration of a command-line tool, which works without SECRETS_KEY. Throws ConfigError. */
export const loadToolConfig = (env: Env): Config => configOf(env, false);

// Detects unencrypted connections to other hosts, which would expose passwords, keys and payers' documents (rule S6).

const isLocal = (host: string): boolean => host.startsWith('/') || isLoopbackHost(host);

/** Modes that may connect without TLS or without checking the certificate. */
const UNPROVEN_MODES = ['prefer', 'allow', 'no-verify'];

/**
 * Returns whether `pg` would connect to another host without TLS or without checking its certificate. `sslmode` is the mode in the
 * original URL. Throws the error of `pg` if the URL is invalid.
 */
const isPlainPostgres = (url: string, sslmode: string): boolean => {
  const { host, ssl } = new pg.Client({ connectionString: url }) as unknown as {
    host: string;
    ssl: boolean | { rejectUnauthorized?: boolean };
  };
  if (isLocal(host)) return false;
  return !ssl || (typeof ssl === 'object' && ssl.rejectUnauthorized === false) || UNPROVEN_MODES.includes(sslmode);
};

const isPlainEventStore = ({ tls, hosts }: ConnectionSettings): boolean =>
  tls === null && !hosts.every(({ address }) => isLocal(address));
