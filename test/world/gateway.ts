// The whole gateway in the test process, with real PostgreSQL, real HTTP on a free port, and a clock that tests can move.

import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addUser } from '../../application/accounts/users.ts';
import type { EventCodec } from '../../application/ports/eventCodec.ts';
import type { MailSender } from '../../application/ports/mail.ts';
import type { PaymentProvider } from '../../application/ports/paymentProvider.ts';
import type { PayoutRail } from '../../application/ports/payoutRail.ts';
import type { ReadModelName } from '../../application/ports/readModels/progress.ts';
import type { SecurityEvent } from '../../application/ports/securityEvents.ts';
import type { Clock } from '../../application/ports/system.ts';
import type { UserId } from '../../domain/kernel/ids.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import type { Role } from '../../domain/user/user.ts';
import type { CertificateHeader } from '../../http/api/providers/callbackCaller.ts';
import { routesFor } from '../../http/api/routes.ts';
import type { Admission, ConnectionLimits, OverloadOptions } from '../../http/kernel/admission.ts';
import type { Route } from '../../http/kernel/route.ts';
import type { Operations } from '../../http/kernel/serverContext.ts';
import { allRoutes, openApp, routesByListener } from '../../infrastructure/boot/app.ts';
import { openGateway } from '../../infrastructure/boot/composition.ts';
import type { Gateway, GatewayOptions, Roles } from '../../infrastructure/boot/gateway.ts';
import { openStorage, type Storage } from '../../infrastructure/boot/storage.ts';
import { type Log, openLog, securityLines } from '../../infrastructure/log/log.ts';
import { migrate } from '../../infrastructure/postgres/migrate.ts';
import type { OpenAdapter } from '../../infrastructure/providers/connectionKinds.ts';
import type { RequestLog } from '../../infrastructure/requests/requestLog.ts';
import { SecretsKeyring } from '../../infrastructure/secrets/keyring.ts';
import type { HashParameters } from '../../infrastructure/secrets/passwordHasher.ts';
import { readPositions } from '../../projections/engine/checkpoints.ts';
import { frontOf, leastOf } from '../../projections/engine/partitions.ts';
import { untilReadModelsExist } from '../../projections/engine/schemaVersions.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { TEST_SECRETS_KEY } from '../support/dataKeys.ts';
import { expectDeclared } from '../support/declaredAnswers.ts';
import { makePatient } from '../support/patience.ts';
import { pollUntil } from './pollUntil.ts';
import { databaseFrom, migratedDatabase, type TestDatabase } from './postgres.ts';
import { newTenant, type TestTenant } from './tenants.ts';
import { NO_MAIL, OWN_NAMES } from './withoutWorld.ts';

export type { TestTenant };

export interface Reply<T = unknown> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: T;
}

export interface CallOptions {
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Sent unchanged instead of `body`. */
  readonly raw?: string | Buffer;
  /** Whether `raw` is a form. */
  readonly form?: true;
  readonly idempotencyKey?: string;
  /** Base URL; the main listener by default. */
  readonly at?: string;
}

const OPERATIONS: Operations = {
  unreadiness: async () => null,
  parkedStreams: () => 0,
  auditStopped: async () => null,
  securityLines: () => [],
  metrics: async () => ({ contentType: 'text/plain', text: 'quita 1' }),
  metricsToken: null,
  metricsOnLoopback: true,
};

/** The cheapest parameters of Argon2id. */
const CHEAP: HashParameters = { memoryCost: 8, timeCost: 1, parallelism: 1 };

const evidenceFolder = (): string => join(tmpdir(), `quita-evidence-${randomBytes(8).toString('hex')}`);

export interface TestUser {
  readonly userId: UserId;
  readonly email: string;
  readonly password: string;
}

interface TestGatewayOptions {
  /** Default: a new database. */
  database?: TestDatabase;
  perMinute?: number;
  /** Requests per minute without a key, per address; unlimited by default. */
  addressPerMinute?: number;
  /** The clock of rate limits. */
  limitsNow?: () => number;
  /** Logins per minute, per address; unlimited by default. */
  loginsPerMinute?: number;
  overload?: Partial<OverloadOptions>;
  trustProxy?: number | string;
  /** Default: no proxy verifies the certificates of institutions. */
  certificateHeader?: CertificateHeader;
  /** The first key encrypts; all keys decrypt. */
  secretsKeys?: readonly [Buffer, ...Buffer[]];
  isAlone?: boolean;
  roles?: Roles;
  eventStoreUrl?: string;
  clock?: Clock;
  clockFault?: () => string | null;
  /** Default: true. The gateway waits longer for read models than the product does, because the machine may be slow. */
  isPatient?: boolean;
  /** Default: as in the product. */
  startSchedule?: GatewayOptions['startSchedule'];
  /** Default: the cheapest parameters. */
  passwordParameters?: HashParameters;
  /** Default: accepts and discards all mail. */
  mail?: MailSender;
  /** Default: a temporary folder. */
  evidence?: Partial<GatewayOptions['evidence']>;
  /** Silent by default. */
  log?: Log;
  /** Default: webhooks of the test mode may go to loopback. */
  webhookAllowPrivate?: boolean;
  /** Default: resolves only names of this machine, so that tests need no network. */
  webhookSender?: GatewayOptions['webhookSender'];
  /** Default: deliveries are never removed. */
  webhookRetentionDays?: number;
  retentionYears?: number;
  eraseAfterRetention?: boolean;
  /** The bank of live mode; none by default. */
  liveProvider?: PaymentProvider;
  /** The bank that pays live payouts; none by default. */
  livePayoutRail?: PayoutRail;
  /** Opens provider connections. Default: the product's adapters. */
  openAdapter?: OpenAdapter;
  isProduction?: boolean;
  extension?: GatewayOptions['extension'];
  projections?: GatewayOptions['projections'];
  codec?: EventCodec;
  /** Routes in addition to the product's. */
  moreRoutes?: readonly Route[];
  authenticators?: Admission['authenticators'];
  /** Limits of callbacks. */
  ofConnection?: Partial<ConnectionLimits>;
  /** Default: false; operators use the main listener. */
  hasOpsListener?: boolean;
  /** True in production; false by default. */
  operatorsNeedSecondFactor?: boolean;
  /** Default: no anchors, and nothing of the audit log is public. */
  audit?: NonNullable<GatewayOptions['audit']>;
  /** Replaces the gateway's own address, so that links are the same in every run. */
  publicUrl?: string;
  /** Seed of the account and its keys; random by default. */
  tenantSeed?: string;
}

export class TestGateway {
  readonly baseUrl: string;
  /** Base URL of the operators' listener, or `baseUrl` if there is none. */
  readonly opsUrl: string;
  readonly storage: Storage;
  readonly gateway: Gateway;
  readonly tenant: TestTenant;
  /** Causes of all 5xx responses. Must be empty unless the test expects one. */
  readonly faults: unknown[];
  readonly securityEvents: readonly SecurityEvent[];
  /** If false, requests whose effect doesn't show within the product's own time get 202 or 503. */
  isPatient: boolean;
  readonly #routes: readonly Route[];
  readonly #requestLog: RequestLog;
  readonly #close: () => Promise<void>;

  private constructor(parts: {
    baseUrl: string;
    opsUrl: string;
    storage: Storage;
    gateway: Gateway;
    tenant: TestTenant;
    faults: unknown[];
    securityEvents: readonly SecurityEvent[];
    isPatient: boolean;
    requestLog: RequestLog;
    close: () => Promise<void>;
  }) {
    this.baseUrl = parts.baseUrl;
    this.opsUrl = parts.opsUrl;
    this.storage = parts.storage;
    this.#routes = routesFor(parts.gateway.accounts.declared).all;
    this.gateway = parts.gateway;
    this.tenant = parts.tenant;
    this.faults = parts.faults;
    this.securityEvents = parts.securityEvents;
    this.isPatient = parts.isPatient;
    makePatient(parts.gateway, () => this.isPatient);
    this.#requestLog = parts.requestLog;
    this.#close = parts.close;
  }

  /** Writes all requests so far to the request log. */
  writeRequests(): Promise<void> {
    return this.#requestLog.flush();
  }

  /** Resolves when these read models, or all, reflect all events in the log, also those of other processes. Rejects after 30 s. */
  async untilProjected(...models: readonly ReadModelName[]): Promise<void> {
    const head = await this.storage.store.head();
    if (head !== null) this.gateway.projected.sawHead(head); // It may not know about events of other processes yet.
    if (!(await this.gateway.projected.caughtUp(30_000, models.length > 0 ? models : undefined)))
      throw new Error(`not at ${head} within 30 s: ${this.gateway.projected.behind()}`);
  }

  /** As `untilProjected`, and until the checkpoints say so, too: those of consumers with nothing to do follow a moment later. */
  async untilStored(...models: readonly ReadModelName[]): Promise<void> {
    const head = await this.storage.store.head();
    await this.untilProjected(...models);
    const names = models.length > 0 ? models : PROJECTIONS.map(({ name }) => name);
    const stored = await pollUntil(this.gateway.projected, 30_000, async () => {
      const known = await readPositions(this.storage.reads, names);
      const isStored = (name: string) => (leastOf(frontOf(known.get(name) ?? [])) ?? '') >= (head ?? '');
      return names.every(isStored) ? true : null;
    });
    if (stored === null) throw new Error(`checkpoints not at ${head} within 30 s`);
  }

  /** Opens a gateway. A `database` in the options is kept when the gateway closes. */
  static async open(options: TestGatewayOptions = {}): Promise<TestGateway> {
    const database = options.database ?? (await databaseFor(options));
    const server = await listening();
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const opened = await openStorage(
      database.connectionString,
      options.eventStoreUrl ?? null,
      testKeyring(options.secretsKeys),
      () => undefined,
    );
    const storage = { ...opened, ...(options.codec && { codec: options.codec }) };
    const faults: unknown[] = [];
    const folder = options.evidence?.folder ?? evidenceFolder();
    const evidence = { ...options.evidence, folder };
    const gateway = await gatewayOn(storage, baseUrl, { ...options, evidence }, faults);
    await untilReadModelsExist(storage.reads, options.projections ?? PROJECTIONS);
    const securityEvents: SecurityEvent[] = [];
    const site = { publicUrl: options.publicUrl ?? baseUrl, demoFile: null };
    const log = options.log ?? openLog('silent');
    const {
      app,
      opsApp,
      close: closeApp,
      requestLog,
    } = openApp(gateway, {
      operations: { ...OPERATIONS, securityLines: () => securityLines(log) },
      ...routesByListener(
        [...allRoutes(site, gateway.accounts.declared), ...(options.moreRoutes ?? [])],
        options.hasOpsListener ?? false,
      ),
      operatorsNeedSecondFactor: options.operatorsNeedSecondFactor ?? false,
      storage,
      log,
      limits: {
        perMinute: options.perMinute ?? 0,
        ofAddress: { perMinute: options.addressPerMinute ?? 0, loginsPerMinute: options.loginsPerMinute ?? 0 },
        ...(options.ofConnection && { ofConnection: options.ofConnection }),
        ...(options.limitsNow && { now: options.limitsNow }),
      },
      // The test runs in the same event loop and the machine may be slow, so by default lag doesn't count as overload.
      overload: { lagMsMax: Number.POSITIVE_INFINITY, ...options.overload },
      onSecurityEvent: (event) => securityEvents.push(event),
      ...(options.authenticators && { authenticators: options.authenticators }),
      trustProxy: options.trustProxy ?? false,
      certificateHeader: options.certificateHeader ?? null,
      onFault: (error) => faults.push(error),
    });
    server.on('request', app);
    const opsServer = opsApp === null ? null : (await listening()).on('request', opsApp);
    const opsUrl = opsServer === null ? baseUrl : `http://127.0.0.1:${(opsServer.address() as AddressInfo).port}`;
    const tenant = await newTenant(gateway, options.tenantSeed);
    const close = async () => {
      closeApp();
      opsServer?.closeAllConnections();
      opsServer?.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await requestLog.close();
      await gateway.stop(2_000);
      await storage.close();
      if (!options.evidence?.folder) await rm(folder, { recursive: true, force: true });
      if (!options.database) await database.drop();
    };
    const { isPatient = true } = options;
    return new TestGateway({
      baseUrl,
      opsUrl,
      storage,
      gateway,
      tenant,
      faults,
      securityEvents,
      isPatient,
      requestLog,
      close,
    });
  }

  /** Opens another account of the same gateway. */
  newTenant(): Promise<TestTenant> {
    return newTenant(this.gateway);
  }

  /** Adds a user: an OPERATOR to the platform, others to the first tenant's account by default. */
  async addUser(
    role: Role = 'OWNER',
    { tenant = this.tenant, ...wish }: { tenant?: TestTenant; email?: string; password?: string | null } = {},
  ): Promise<TestUser> {
    const fresh = `user-${randomBytes(6).toString('hex')}@example.com`;
    const { email = fresh, password = 'uma senha de teste' } = wish;
    const accountId = role === 'OPERATOR' ? null : tenant.accountId;
    const by = { actor: 'operator:test', requestId: null };
    const added = await addUser(this.gateway.needs)({ accountId, email, name: 'Ana Souza', role, password }, by);
    if (isRejection(added)) throw new Error(added.message);
    return { userId: added, email, password: password ?? '' };
  }

  /** Logs in `user`, or a new user of the role. Returns the header with the token. */
  async logIn(role: Role = 'OWNER', user?: TestUser): Promise<{ readonly authorization: string }> {
    const { email, password } = user ?? (await this.addUser(role));
    const reply = await this.post<{ token: string }>('/v1/auth/login', { email, password }, { key: null });
    if (reply.status !== 200) throw new Error(reply.text);
    return { authorization: `Bearer ${reply.body.token}` };
  }

  close(): Promise<void> {
    return this.#close();
  }

  /**
   * Sends a request. `key` defaults to the first tenant’s test key; null sends none. Fails if the OpenAPI document doesn’t declare the
   * response.
   */
  async call<T = Record<string, unknown>>(method: string, path: string, options: CallOptions = {}): Promise<Reply<T>> {
    const key = options.key === undefined ? this.tenant.testKey : options.key;
    const payload = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const response = await fetch((options.at ?? this.baseUrl) + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(key !== null && { apikey: key }),
        ...(options.body !== undefined && { 'content-type': 'application/json' }),
        ...(options.form && { 'content-type': 'application/x-www-form-urlencoded' }),
        ...(options.idempotencyKey !== undefined && { 'idempotency-key': options.idempotencyKey }),
        ...options.headers,
      },
      ...(payload !== undefined && { body: payload as string }),
    });
    const text = await response.text();
    let body: unknown = text;
    try {
      body = JSON.parse(text);
    } catch {
      // The body is not JSON.
    }
    const reply = { status: response.status, headers: response.headers, text, body: body as T };
    expectDeclared(method, path, reply, this.#routes);
    return reply;
  }

  get<T = Record<string, unknown>>(path: string, options: CallOptions = {}): Promise<Reply<T>> {
    return this.call<T>('GET', path, options);
  }
  post<T = Record<string, unknown>>(path: string, body: unknown = {}, options: CallOptions = {}): Promise<Reply<T>> {
    return this.call<T>('POST', path, { body, ...options });
  }
  charge<T = Record<string, unknown>>(
    body: Record<string, unknown> = {},
    options: CallOptions = {},
  ): Promise<Reply<T>> {
    return this.post<T>(
      '/v1/charges',
      { amount: 1234, payment_method: 'pix', ...body },
      { idempotencyKey: newKey(), ...options },
    );
  }
}

/** Repeats a request until the response is not 503, which happens if the log is unavailable or a read model lags. */
export const untilServed = async <T extends { readonly status: number }>(ask: () => Promise<T>): Promise<T> => {
  let reply = await ask();
  while (reply.status === 503) reply = await ask();
  return reply;
};

export const newKey = (): string => `test-${randomBytes(9).toString('hex')}`;

/** The keyring of test gateways. Default: one fixed key. */
export const testKeyring = (keys: TestGatewayOptions['secretsKeys'] = [TEST_SECRETS_KEY]): SecretsKeyring =>
  new SecretsKeyring(keys);

const gatewayOn = (
  storage: Storage,
  baseUrl: string,
  options: TestGatewayOptions,
  faults: unknown[],
): Promise<Gateway> =>
  openGateway({
    storage,
    keyring: testKeyring(options.secretsKeys),
    publicUrl: options.publicUrl ?? baseUrl,
    webhookAllowPrivate: options.webhookAllowPrivate ?? true,
    webhookRetentionDays: options.webhookRetentionDays ?? 36_500,
    requestLogDays: 30,
    retentionYears: options.retentionYears ?? 5,
    eraseAfterRetention: options.eraseAfterRetention ?? false,
    webhookSender: { resolver: OWN_NAMES, ...options.webhookSender },
    ...(options.audit && { audit: options.audit }),
    log: options.log ?? openLog('silent'),
    clock: options.clock ?? { now: Date.now },
    ...(options.clockFault && { clockFault: options.clockFault }),
    ...(options.startSchedule && { startSchedule: options.startSchedule }),
    isAlone: options.isAlone ?? true,
    onMismatch: (error) => faults.push(error),
    liveProvider: options.liveProvider ?? null,
    livePayoutRail: options.livePayoutRail ?? null,
    isProduction: options.isProduction ?? false,
    ...(options.openAdapter && { openAdapter: options.openAdapter }),
    ...(options.extension && { extension: options.extension }),
    ...(options.projections && { projections: options.projections }),
    passwordParameters: options.passwordParameters ?? CHEAP,
    mail: options.mail ?? NO_MAIL,
    evidence: {
      folder: evidenceFolder(),
      s3: null,
      grantSeconds: 900,
      viewSeconds: 300,
      freeSpaceMin: 0,
      ...options.evidence,
    },
    roles: options.roles ?? { serves: true, projects: true, works: true },
  });

/** Creates the read models and the queues, which takes half of the time of a first start. */
const firstStart = async (connectionString: string): Promise<void> => {
  await migrate(connectionString);
  const storage = await openStorage(connectionString, null, testKeyring(), () => undefined);
  // No upkeep, because it would seal this log, while each copy has a log of its own.
  const startSchedule = () => async () => undefined;
  const gateway = await gatewayOn(storage, 'http://127.0.0.1', { startSchedule }, []);
  await untilReadModelsExist(storage.reads, PROJECTIONS);
  await gateway.stop(2_000);
  await storage.operations.query('DELETE FROM operations.secrets_key_check'); // A test may use another key.
  await storage.close();
};
/** Returns a new database on which a gateway has run. Use it for several gateways, or if it must outlive its gateway. */
export const startedDatabase = (): Promise<TestDatabase> => databaseFrom(firstStart);
/** Returns a new database after a first start, or only a migrated one if the options change its parts or the event store. */
const databaseFor = ({ eventStoreUrl, extension, projections, codec }: TestGatewayOptions): Promise<TestDatabase> =>
  eventStoreUrl || extension || projections || codec ? migratedDatabase() : startedDatabase();

const listening = (): Promise<Server> =>
  new Promise((resolve) => {
    const server = createServer({ maxHeaderSize: 16 * 1024 });
    // Otherwise fetch could reuse a connection that the server closed while the process was paused.
    server.keepAliveTimeout = 0;
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
