// The whole program in one process: database, API, projector, reactor and workers (rules S1–S6).
import { API_ROUTES, ROUTES } from '../../http/api/routes.ts';
import { isLoopbackHost } from '../../http/kernel/address.ts';
import { createApp } from '../../http/kernel/app.ts';
import { OPERATIONS_ROUTES, type Operations } from '../../http/kernel/health.ts';
import { addressLimit, rateLimit } from '../../http/kernel/limits.ts';
import { Overload } from '../../http/kernel/overload.ts';
import { openStatusStreams } from '../../http/site/checkoutRoutes.ts';
import { docsRoutes } from '../../http/site/docsRoutes.ts';
import type { StatusStreams } from '../../http/site/statusStreams.ts';
import { untilReadModelsExist } from '../../projections/engine/schemaVersions.ts';
import type { Subscriptions } from '../../projections/engine/subscriptions.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { type DemoAccount, demoFile, ensureDemoAccount } from '../demo/demoAccount.ts';
import type { Log } from '../log/log.ts';
import { secretsKeyOf } from '../secrets/secretsKey.ts';
import type { LogProgress } from '../subscriptions/progress.ts';
import { openClock } from './clock.ts';
import type { Gateway, Roles } from './composition.ts';
import { openGateway } from './composition.ts';
import type { Config } from './config.ts';
import { type Database, openDatabase } from './database.ts';
import { type HttpServer, listen } from './httpServer.ts';
import { createMetrics } from './metrics.ts';
import { migrate } from './migrate.ts';
import { assertReadable } from './readableLog.ts';
import { unreadiness } from './readiness.ts';
import { securityLog } from './securityLog.ts';
import { openStorage, type Storage } from './storage.ts';

/** What is in flight at a stop may take this long. */
const REQUESTS_GRACE_MS = 5_000;
const JOBS_GRACE_MS = 5_000;
/** What was cut off goes on within 5 s of ready; catching up after a long stop may take longer and readiness waits for it. */
const CATCH_UP_MS = 600_000;
const LOOK_MS = 1_000;

export interface Program {
  /** null with a database of one's own. */
  readonly demo: DemoAccount | null;
  /** Stopped or broken: the reason, never rejects. */
  readonly broken: Promise<Error>;
  stop(): Promise<void>;
}

/** Everything in one process (`npm start`). */
export const ALL_ROLES: Roles = { serves: true, projects: true, works: true };

export const startProgram = async (config: Config, log: Log, roles: Roles = ALL_ROLES): Promise<Program> => {
  const resources = new AsyncDisposableStack();
  let breakProgram: (error: Error) => void = () => undefined;
  const broken = new Promise<Error>((resolve) => {
    breakProgram = resolve;
  });
  try {
    const server = await listen(config.host, config.port, config.publicUrl);
    resources.defer(() => server.stop(REQUESTS_GRACE_MS));
    const database = await openDatabase(config, log, breakProgram);
    resources.defer(() => database.close());
    await migrate(database.connectionString);
    let isOpen = false;
    // Until both stores have answered once, their last word tells what is wrong, in one line.
    const storage = await openStorage(database.connectionString, config.eventStoreUrl, (err) =>
      log[isOpen ? 'warn' : 'debug']({ err }, 'a connection to a store failed'),
    );
    isOpen = true;
    resources.defer(() => storage.close());
    await assertReadable(storage);
    const clock = await openClock(storage.operations, log);
    resources.defer(() => clock.close());
    const gateway = await openGateway({
      storage,
      secretsKey: await secretsKeyOf(config),
      publicUrl: config.publicUrl,
      webhookAllowPrivate: config.webhookAllowPrivate,
      log,
      clock,
      clockFault: () => clock.fault(),
      isAlone: database.isEmbedded,
      roles,
      liveProvider: null,
      onMismatch: breakProgram,
    });
    resources.defer(() => gateway.stop(JOBS_GRACE_MS));
    if (roles.serves || roles.works) await untilReadModelsExist(storage.reads, PROJECTIONS);
    const demo = await readyToServe(config, database, gateway, roles);
    const streams = serve(config, log, server, storage, gateway, roles, demo);
    // Requests end before the processes they wait for do.
    resources.defer(async () => {
      streams.close();
      await server.stop(REQUESTS_GRACE_MS);
    });
    return { demo, broken, stop: () => resources.disposeAsync() };
  } catch (error) {
    await resources.disposeAsync();
    throw error;
  }
};

const readyToServe = async (
  config: Config,
  database: Database,
  { projected, reacted, projector, reactor, commands, accounts }: Gateway,
  roles: Roles,
): Promise<DemoAccount | null> => {
  const demo = database.isEmbedded
    ? await ensureDemoAccount(config.dataDir, config.publicUrl, { commands, accounts })
    : null;
  // What other processes follow is theirs to wait for; /health/ready tells how far they are.
  if (roles.projects) await untilLevel(projected, projector);
  if (roles.works) await untilLevel(reacted, reactor);
  return demo;
};

/** One that failed as a whole is not waited for: the others serve, and /health/ready tells of it. */
const untilLevel = async (progress: LogProgress, followers: Subscriptions | null): Promise<void> => {
  const deadline = performance.now() + CATCH_UP_MS;
  const isWell = (name: string): boolean => !followers?.faults().some((fault) => fault.name === name);
  while (!(await progress.caughtUp(LOOK_MS)) && performance.now() < deadline)
    if (!progress.behind().some(isWell)) break;
};

const serve = (
  config: Config,
  log: Log,
  server: HttpServer,
  storage: Storage,
  gateway: Gateway,
  roles: Roles,
  demo: DemoAccount | null,
): StatusStreams => {
  const isLocal = isLoopbackHost(new URL(config.publicUrl).hostname);
  const site = { publicUrl: config.publicUrl, demoFile: isLocal && demo ? demoFile(config.dataDir) : null };
  const metrics = createMetrics(gateway);
  const statusStreams = openStatusStreams(gateway.services);
  const operations: Operations = {
    unreadiness: () => unreadiness(storage, gateway),
    parkedStreams: () => gateway.parked.streams,
    metrics: async () => ({ contentType: metrics.registry.contentType, text: await metrics.registry.metrics() }),
    metricsToken: config.metricsToken,
    metricsOnLoopback: isLocal,
  };
  const app = createApp({
    services: { ...gateway.services, operations, statusStreams },
    routes: roles.serves ? [...ROUTES, ...docsRoutes(API_ROUTES, site)] : OPERATIONS_ROUTES,
    rateLimit: rateLimit(config.rateLimitPerMinute),
    addressLimit: addressLimit(),
    overload: new Overload(),
    onSecurityEvent: securityLog(log),
    trustProxy: config.trustProxy,
    onFault: (err, requestId) => log.error({ err, requestId }, 'a request failed'),
    onAnswer: metrics.onAnswer,
  });
  server.serve(app);
  return statusStreams;
};
