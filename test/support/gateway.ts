// The whole gateway inside the test process: real Postgres, real HTTP on a free port, a clock that the test can move.

import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openAccountWithKeys } from '../../application/accounts/openAccount.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { EventCodec } from '../../application/ports/eventCodec.ts';
import type { PaymentProvider } from '../../application/ports/paymentProvider.ts';
import { type AccountId, encodeRawId } from '../../domain/kernel/ids.ts';
import { API_ROUTES, ROUTES } from '../../http/api/routes.ts';
import type { Admission } from '../../http/kernel/admission.ts';
import { createApp } from '../../http/kernel/app.ts';
import type { Operations } from '../../http/kernel/health.ts';
import { addressLimit, rateLimit } from '../../http/kernel/limits.ts';
import { OVERLOAD, Overload, type OverloadOptions } from '../../http/kernel/overload.ts';
import type { Route } from '../../http/kernel/route.ts';
import type { SecurityEvent } from '../../http/kernel/securityEvents.ts';
import { openStatusStreams } from '../../http/site/checkoutRoutes.ts';
import { docsRoutes } from '../../http/site/docsRoutes.ts';
import { type Gateway, type GatewayOptions, openGateway, type Roles } from '../../infrastructure/boot/composition.ts';
import { openStorage, type Storage } from '../../infrastructure/boot/storage.ts';
import { type Log, openLog } from '../../infrastructure/log/log.ts';
import { untilReadModelsExist } from '../../projections/engine/schemaVersions.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { expectDeclared } from './declaredAnswers.ts';
import { migratedDatabase, type TestDatabase } from './postgres.ts';

export interface TestTenant {
  readonly accountId: AccountId;
  readonly testKey: string;
  readonly liveKey: string;
}

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
  /** Sent as it is, instead of `body`. */
  readonly raw?: string | Buffer;
  readonly idempotencyKey?: string;
}

const OPERATIONS: Operations = {
  unreadiness: async () => null,
  parkedStreams: () => 0,
  metrics: async () => ({ contentType: 'text/plain', text: 'quita 1' }),
  metricsToken: null,
  metricsOnLoopback: true,
};

export class TestGateway {
  readonly baseUrl: string;
  readonly storage: Storage;
  readonly gateway: Gateway;
  readonly tenant: TestTenant;
  /** Every 5xx that was answered, with its cause: must be empty unless the test wanted one. */
  readonly faults: unknown[];
  readonly securityEvents: readonly SecurityEvent[];
  readonly #close: () => Promise<void>;

  private constructor(parts: {
    baseUrl: string;
    storage: Storage;
    gateway: Gateway;
    tenant: TestTenant;
    faults: unknown[];
    securityEvents: readonly SecurityEvent[];
    close: () => Promise<void>;
  }) {
    this.baseUrl = parts.baseUrl;
    this.storage = parts.storage;
    this.gateway = parts.gateway;
    this.tenant = parts.tenant;
    this.faults = parts.faults;
    this.securityEvents = parts.securityEvents;
    this.#close = parts.close;
  }

  /** `database`: use this one (and leave it) instead of a fresh one; `perMinute`: rate limit, none by default. */
  static async open(
    options: {
      database?: TestDatabase;
      perMinute?: number;
      /** Requests a minute of each address without a key; default: none is refused. */
      addressPerMinute?: number;
      overload?: Partial<OverloadOptions>;
      trustProxy?: number | string;
      secretsKey?: Buffer;
      isAlone?: boolean;
      roles?: Roles;
      eventStoreUrl?: string;
      clock?: Clock;
      clockFault?: () => string | null;
      /** Silent by default. */
      log?: Log;
      /** The bank of live mode; none by default. */
      liveProvider?: PaymentProvider;
      /** Instead of the product's. */
      capabilities?: GatewayOptions['capabilities'];
      projections?: GatewayOptions['projections'];
      codec?: EventCodec;
      /** Beside the product's. */
      moreRoutes?: readonly Route[];
      authenticators?: Admission['authenticators'];
      /** Instead of its own address: what ends up in links is then the same in every run. */
      publicUrl?: string;
      /** Account and keys derived from it; default: random ones. */
      tenantSeed?: string;
    } = {},
  ): Promise<TestGateway> {
    const database = options.database ?? (await migratedDatabase());
    const server = await listening();
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const log = options.log ?? openLog('silent');
    const opened = await openStorage(database.connectionString, options.eventStoreUrl ?? null, () => undefined);
    const storage = { ...opened, ...(options.codec && { codec: options.codec }) };
    const faults: unknown[] = [];
    const gateway = await openGateway({
      storage,
      secretsKey: options.secretsKey ?? Buffer.alloc(32, 7),
      publicUrl: options.publicUrl ?? baseUrl,
      webhookAllowPrivate: true,
      log,
      clock: options.clock ?? { now: Date.now },
      ...(options.clockFault && { clockFault: options.clockFault }),
      isAlone: options.isAlone ?? true,
      onMismatch: (error) => faults.push(error),
      liveProvider: options.liveProvider ?? null,
      ...(options.capabilities && { capabilities: options.capabilities }),
      ...(options.projections && { projections: options.projections }),
      roles: options.roles ?? { serves: true, projects: true, works: true },
    });
    await untilReadModelsExist(storage.reads, options.projections ?? PROJECTIONS);
    const statusStreams = openStatusStreams(gateway.services);
    const securityEvents: SecurityEvent[] = [];
    // The test runs in the same loop, and the machine may be slow: lag is no overload here unless a test says so.
    const overload = new Overload({ ...OVERLOAD, lagMsMax: Number.POSITIVE_INFINITY, ...options.overload });
    const site = { publicUrl: options.publicUrl ?? baseUrl, demoFile: null };
    const app = createApp({
      // The same object: a test that changes a service changes it for the routes.
      services: Object.assign(gateway.services, { operations: OPERATIONS, statusStreams }),
      routes: [...ROUTES, ...docsRoutes(API_ROUTES, site), ...(options.moreRoutes ?? [])],
      rateLimit: rateLimit(options.perMinute ?? 0),
      addressLimit: addressLimit(options.addressPerMinute ?? Number.POSITIVE_INFINITY),
      overload,
      onSecurityEvent: (event) => securityEvents.push(event),
      ...(options.authenticators && { authenticators: options.authenticators }),
      trustProxy: options.trustProxy ?? false,
      onFault: (error) => faults.push(error),
    });
    server.on('request', app);
    const tenant = await newTenant(gateway, options.tenantSeed);
    const close = async () => {
      statusStreams.close();
      overload.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await gateway.stop(2_000);
      await storage.close();
      if (!options.database) await database.drop();
    };
    return new TestGateway({ baseUrl, storage, gateway, tenant, faults, securityEvents, close });
  }

  /** Another account of the same gateway. */
  newTenant(): Promise<TestTenant> {
    return newTenant(this.gateway);
  }

  close(): Promise<void> {
    return this.#close();
  }

  /** `key`: default the test key of the first tenant; null: none. Fails when the answer is not one that the OpenAPI document declares. */
  async call<T = Record<string, unknown>>(method: string, path: string, options: CallOptions = {}): Promise<Reply<T>> {
    const key = options.key === undefined ? this.tenant.testKey : options.key;
    const payload = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const response = await fetch(this.baseUrl + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(key !== null && { apikey: key }),
        ...(options.body !== undefined && { 'content-type': 'application/json' }),
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
      // not JSON: the text is the body
    }
    const reply = { status: response.status, headers: response.headers, text, body: body as T };
    expectDeclared(method, path, reply);
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

export const newKey = (): string => `test-${randomBytes(9).toString('hex')}`;

const listening = (): Promise<Server> =>
  new Promise((resolve) => {
    const server = createServer({ maxHeaderSize: 16 * 1024 });
    server.listen(0, '127.0.0.1', () => resolve(server));
  });

const newTenant = async ({ commands, accounts }: Gateway, seed?: string): Promise<TestTenant> => {
  const bytes = (what: string, count: number): Buffer =>
    seed === undefined
      ? randomBytes(count)
      : createHash('sha256').update(`${seed} ${what}`).digest().subarray(0, count);
  const accountId = encodeRawId(bytes('account', 16)) as AccountId;
  const keyOf = (mode: 'test' | 'live') => `ak_${mode}_${bytes(mode, 24).toString('base64url')}`;
  const [testKey, liveKey] = [keyOf('test'), keyOf('live')];
  await openAccountWithKeys({ commands, accounts })({
    accountId,
    name: 'Loja de Teste',
    email: 'teste@example.com',
    idSeed: bytes('seed', 32).toString('base64'),
    keys: [
      { mode: 'test', cleartext: testKey, label: 'test' },
      { mode: 'live', cleartext: liveKey, label: 'live' },
    ],
    actor: 'operator:test',
  });
  return { accountId, testKey, liveKey };
};
