// Starts and stops the program: database, API, projector, reactor and workers, by role (rules S1–S6).

import { isLoopbackHost } from '../../http/kernel/address.ts';
import { OPERATIONS_ROUTES } from '../../http/kernel/health.ts';
import type { Operations } from '../../http/kernel/serverContext.ts';
import { untilReadModelsExist } from '../../projections/engine/schemaVersions.ts';
import type { Subscriptions } from '../../projections/engine/subscriptions.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import type { Config, Listener } from '../config/config.ts';
import { type DemoAccount, demoFile, ensureDemoAccount } from '../demo/demoAccount.ts';
import { assertReadable } from '../eventStore/readableLog.ts';
import { evidenceOf } from '../evidence/evidence.ts';
import { type Log, securityLines, warnings } from '../log/log.ts';
import { mailOf } from '../mail/mail.ts';
import { createMetrics } from '../monitoring/metrics.ts';
import { auditStopped, unreadiness } from '../monitoring/readiness.ts';
import { securityLog } from '../monitoring/securityLog.ts';
import { type Database, openDatabase } from '../postgres/database.ts';
import { openClock } from '../postgres/databaseClock.ts';
import { MIGRATIONS, migrate } from '../postgres/migrate.ts';
import { keyringOf } from '../secrets/secretsKey.ts';
import { type HttpServer, listen, SOCKET_BOUNDS } from '../server/httpServer.ts';
import type { LogProgress } from '../subscriptions/progress.ts';
import { allRoutes, type GatewayApp, openApp, routesByListener } from './app.ts';
import { openGateway } from './composition.ts';
import type { Gateway, Roles } from './gateway.ts';
import { openStorage, type Storage } from './storage.ts';

/** How long requests and jobs may still run after a stop was requested. */
const REQUESTS_GRACE_MS = 5_000;
const JOBS_GRACE_MS = 5_000;
/** The longest time that a start waits for the consumers to catch up with the log. */
const CATCH_UP_MS = 600_000;
const LOOK_MS = 1_000;

export interface Program {
  /** null unless the database is the embedded one. */
  readonly demo: DemoAccount | null;
  /** Resolves with the reason if the program breaks; never rejects. */
  readonly broken: Promise<Error>;
  stop(): Promise<void>;
}

/** Everything in one process (`npm start`). */
export const ALL_ROLES: Roles = { serves: true, projects: true, works: true };

/**
 * Starts the program. If `asked` aborts meanwhile, the start stops waiting and serves nothing. Throws the error that broke the start, or an
 * AbortError if it was asked to stop while another process migrates the database.
 */
export const startProgram = async (config: Config, log: Log, roles: Roles, asked: AbortSignal): Promise<Program> => {
  const resources = new AsyncDisposableStack();
  const breaking = new AbortController();
  const breakProgram = (error: Error): void => breaking.abort(error);
  const broken = new Promise<Error>((resolve) => {
    breaking.signal.addEventListener('abort', () => resolve(breaking.signal.reason as Error));
  });
  // A start may wait for other processes without limit.
  const until = AbortSignal.any([asked, breaking.signal]);
  try {
    const servers = await openServers(config, roles, resources);
    const database = await openDatabase(config, log, breakProgram);
    resources.defer(() => database.close());
    await migrate(database.connectionString, MIGRATIONS, { signal: asked });
    let isOpen = false;
    // During the start, a failed connection ends the program with its error, so the log needs no warning.
    const keyring = await keyringOf(config);
    const storage = await openStorage(database.connectionString, config.eventStoreUrl, keyring, (err) =>
      log[isOpen ? 'warn' : 'debug']({ err }, 'store connection failed'),
    );
    isOpen = true;
    resources.defer(() => storage.close());
    await assertReadable(storage);
    const clock = await openClock(storage.operations, log);
    resources.defer(() => clock.close());
    const gateway = await openGateway({
      storage,
      keyring,
      publicUrl: config.publicUrl,
      mail: mailOf(config),
      evidence: evidenceOf(config),
      webhookAllowPrivate: config.webhookAllowPrivate,
      webhookRetentionDays: config.webhookRetentionDays,
      requestLogDays: config.requestLogDays,
      retentionYears: config.retentionYears,
      eraseAfterRetention: config.eraseAfterRetention,
      audit: config.audit,
      log,
      clock,
      clockFault: () => clock.fault(),
      isAlone: database.isEmbedded,
      roles,
      liveProvider: null,
      isProduction: config.isProduction,
      onMismatch: breakProgram,
    });
    resources.defer(() => gateway.stop(JOBS_GRACE_MS));
    const stop = (): Promise<void> => resources.disposeAsync();
    if (roles.serves || roles.works) await untilReadModelsExist(storage.reads, PROJECTIONS, until);
    const demo = until.aborted ? null : await readyToServe(config, database, gateway, roles, until);
    breaking.signal.throwIfAborted();
    if (asked.aborted) return { demo, broken, stop };
    const served = serve(config, log, servers, storage, gateway, roles, demo);
    // Requests end first, because they wait for the other parts.
    resources.defer(async () => {
      served.close();
      await stopAll(servers);
      await served.requestLog.close();
    });
    return { demo, broken, stop };
  } catch (error) {
    await resources.disposeAsync();
    throw error;
  }
};

interface Servers {
  readonly main: HttpServer;
  /** null if the main listener serves operators, too, or if this process has no API role. */
  readonly ops: HttpServer | null;
}

const openServers = async (config: Config, { serves }: Roles, resources: AsyncDisposableStack): Promise<Servers> => {
  const open = async ({ host, port }: Listener, prefix: '' | 'OPS_'): Promise<HttpServer> => {
    const server = await listen(host, port, config.publicUrl, SOCKET_BOUNDS, prefix);
    resources.defer(() => server.stop(REQUESTS_GRACE_MS));
    return server;
  };
  const main = await open(config, '');
  return { main, ops: serves && config.opsListener !== null ? await open(config.opsListener, 'OPS_') : null };
};

const stopAll = async ({ main, ops }: Servers): Promise<void> => {
  await Promise.all([main.stop(REQUESTS_GRACE_MS), ops?.stop(REQUESTS_GRACE_MS)]);
};

const readyToServe = async (
  config: Config,
  database: Database,
  { projected, reacted, projector, reactor, needs }: Gateway,
  roles: Roles,
  until: AbortSignal,
): Promise<DemoAccount | null> => {
  const demo = database.isEmbedded ? await ensureDemoAccount(config.dataDir, config.publicUrl, needs) : null;
  // Waits only for the consumers of this process; /health/ready covers those of other processes.
  if (roles.projects) await whenCaughtUp(projected, projector, until);
  if (roles.works) await whenCaughtUp(reacted, reactor, until);
  return demo;
};

/**
 * Resolves when the consumers have passed the present head, after CATCH_UP_MS at the latest, or LOOK_MS after the signal. Doesn't wait for
 * consumers that failed, have another version, or have yet to process the whole log.
 */
export const whenCaughtUp = async (
  progress: LogProgress,
  subscriptions: Pick<Subscriptions, 'faults'> | null,
  until?: AbortSignal,
): Promise<void> => {
  const deadline = performance.now() + CATCH_UP_MS;
  const hasFailed = (name: string): boolean => subscriptions?.faults().some((fault) => fault.name === name) === true;
  // With a consumer of another version, `passed` would return at once, and this loop would starve the others.
  const isAwaited = (name: string): boolean =>
    !progress.isOtherVersion(name) && !progress.isNew(name) && !hasFailed(name);
  // Not the newest head: under load, consumers never quite reach it.
  const { head } = progress;
  const isLate = (): boolean => until?.aborted === true || performance.now() >= deadline;
  while (!(await progress.passed(head, LOOK_MS, progress.names.filter(isAwaited))) && !isLate());
};

const serve = (
  config: Config,
  log: Log,
  servers: Servers,
  storage: Storage,
  gateway: Gateway,
  roles: Roles,
  demo: DemoAccount | null,
): GatewayApp => {
  const isLocal = isLoopbackHost(new URL(config.publicUrl).hostname);
  const site = { publicUrl: config.publicUrl, demoFile: isLocal && demo ? demoFile(config.dataDir) : null };
  const droppedRequests = {
    name: 'request_log_dropped',
    help: 'Requests that this process could not write to the request log since it started.',
    read: async () => opened.requestLog.dropped,
  };
  const lostSubscriptions = {
    name: 'event_store_subscriptions_lost',
    help: 'Subscriptions that EventStoreDB or a connection ended since this process started, and that it opened again.',
    read: async () => storage.lostSubscriptions(),
  };
  const metrics = createMetrics(
    { ...gateway, gauges: [...gateway.gauges, droppedRequests, lostSubscriptions] },
    warnings(log)('a metric could not be read'),
  );
  const operations: Operations = {
    unreadiness: () => unreadiness(storage, gateway),
    parkedStreams: () => gateway.parked.streams,
    auditStopped: () => auditStopped(gateway.services.auditLog),
    securityLines: () => securityLines(log),
    metrics: async () => ({ contentType: metrics.registry.contentType, text: await metrics.registry.metrics() }),
    metricsToken: config.metricsToken,
    metricsOnLoopback: isLocal,
  };
  const opened: GatewayApp = openApp(gateway, {
    operations,
    ...routesByListener(
      roles.serves ? allRoutes(site, gateway.accounts.declared) : OPERATIONS_ROUTES,
      servers.ops !== null,
    ),
    operatorsNeedSecondFactor: config.isProduction,
    storage,
    log,
    limits: { perMinute: config.rateLimitPerMinute },
    onSecurityEvent: securityLog(log),
    trustProxy: config.trustProxy,
    certificateHeader: config.clientCertificateHeader,
    onFault: (err, requestId) => log.error({ err, requestId }, 'request failed'),
    onAnswer: metrics.onAnswer,
  });
  servers.main.serve(opened.app);
  if (opened.opsApp !== null) servers.ops?.serve(opened.opsApp);
  opened.prepare().catch((err: unknown) => log.error({ err }, 'routes could not be prepared'));
  return opened;
};
