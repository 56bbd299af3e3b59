// Puts the house together: the only place that knows which adapters run.
import { randomBytes } from 'node:crypto';
import { Accounts } from '../../application/accounts.ts';
import { CommandHandler } from '../../application/commandHandler.ts';
import { advanceClock } from '../../application/commands/advanceTestClock.ts';
import { CreateChargeHandler } from '../../application/commands/createCharge.ts';
import { payInSandbox } from '../../application/commands/payInSandbox.ts';
import { deleteWebhookEndpoint, registerWebhookEndpoint } from '../../application/commands/webhookEndpoints.ts';
import type { Clock } from '../../application/ports/clock.ts';
import { CreationProcess } from '../../application/processes/creation.ts';
import type { Services } from '../../http/services.ts';
import type { CheckpointMismatch } from '../../projections/engine/checkpoints.ts';
import { Followers } from '../../projections/engine/followers.ts';
import type { Projection } from '../../projections/engine/projection.ts';
import { liveSchema } from '../../projections/engine/projection.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { PgBossJobs } from '../jobs/pgBossJobs.ts';
import { EndpointBook } from '../processes/endpointBook.ts';
import { pixNotifications } from '../processes/pixNotifications.ts';
import { Reactor } from '../processes/reactions.ts';
import { TimerScan } from '../processes/timerScan.ts';
import { SandboxBank } from '../providers/sandbox/bank.ts';
import { sandboxPayer } from '../providers/sandbox/payer.ts';
import { isRightSecretsKey } from '../secrets/keyCheck.ts';
import { webhookSecrets } from '../secrets/webhookSecrets.ts';
import { openWebhookSender } from '../webhookSender/webhookSender.ts';
import { followAnnouncements } from './announcements.ts';
import { ApiKeys } from './apiKeys.ts';
import { AtRest } from './atRest.ts';
import { ConfigError } from './config.ts';
import { prepareLiveCopies } from './liveCopies.ts';
import type { Log } from './log.ts';
import { KEEPS_ENDPOINTS, PROCESSES, startWorkers } from './processes.ts';
import { LogProgress } from './progress.ts';
import type { Storage } from './storage.ts';
import { startWatchdog } from './watchdog.ts';
import { whileAlone } from './whileAlone.ts';

export interface GatewayOptions {
  readonly storage: Storage;
  readonly secretsKey: Buffer;
  readonly publicUrl: string;
  readonly webhookAllowPrivate: boolean;
  readonly log: Log;
  readonly clock: Clock;
  /** No other process works on this database: claims of a killed one are open again at once. */
  readonly isAlone: boolean;
  readonly onMismatch: (error: CheckpointMismatch) => void;
}

export interface Gateway {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly services: Services;
  readonly projected: LogProgress;
  readonly reacted: LogProgress;
  readonly projector: Followers;
  readonly reactor: Followers;
  readonly jobs: PgBossJobs;
  /** Stops following and working; what runs is finished within `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

export const openGateway = async (options: GatewayOptions): Promise<Gateway> => {
  const { storage, log, clock } = options;
  const { store, reads, operations, derived, notices } = storage;
  if (!(await isRightSecretsKey(operations, options.secretsKey)))
    throw new ConfigError('SECRETS_KEY is not the key that this database’s secrets were sealed with');
  const warn = (what: string) => (error: Error) => log.warn({ err: error }, what);

  const commands = new CommandHandler(store);
  const accounts = new Accounts(commands, clock);
  const projected = new LogProgress(() => performance.now());
  const reacted = new LogProgress(() => performance.now());
  await projected.follow(store, notices, 'projector');
  await reacted.follow(store, notices, 'reactor');
  const keys = new ApiKeys(reads, projected);
  const stopping = new AbortController();
  await followAnnouncements(store, commands, keys, stopping.signal, warn('following accounts and keys failed'));

  const jobs = await PgBossJobs.open({ pool: derived, notices, onError: (err, queue) => log.warn({ err, queue }, 'a job failed and will be tried again') });
  if (options.isAlone) await jobs.releaseClaims();
  const scan = new TimerScan(operations, jobs, clock, warn('the timer scan failed'));

  const bank = new SandboxBank(operations, (ms) => new Promise((resolve) => setTimeout(resolve, ms)));
  const providers = { forPix: (mode: 'test' | 'live') => (mode === 'test' ? bank : null) };
  const notifications = pixNotifications(operations, jobs);
  const secrets = webhookSecrets(operations, options.secretsKey);
  const sender = openWebhookSender({ allowPrivate: options.webhookAllowPrivate });
  const creationProcess = new CreationProcess({ commands, accounts, providers });
  const atRest = new AtRest({ db: reads, jobs, accounts, projected, reacted });

  const following = {
    store,
    openSession: storage.openSession,
    onMismatch: options.onMismatch,
    onRestart: warn('a follower of the log starts again'),
    onFault: (name: string, err: Error) => log.error({ err, name }, 'a follower of the log stepped aside: its position stands still until this is mended'),
  };
  const projector = new Followers({
    ...following,
    role: 'projector',
    consumers: PROJECTIONS.map(asConsumer),
    versionOf: ({ name }) => PROJECTIONS.find((projection) => projection.name === name)?.version ?? 1,
    prepare: prepareLiveCopies(PROJECTIONS, store, storage.openSession),
    onMoved: (position) => projected.moved(position),
  });
  const endpoints = new EndpointBook();
  const reactorNeeds = { jobs, endpoints, onTimers: (earliest: string) => scan.nudge(earliest) };
  const reactor = new Followers({
    ...following,
    role: 'reactor',
    consumers: PROCESSES.map((process) => new Reactor(process, reactorNeeds, process.name === KEEPS_ENDPOINTS)),
    onMoved: (position) => reacted.moved(position),
  });

  startWorkers({ storage, jobs, commands, accounts, clock, providers, notifications, creationProcess, sender, secrets, atRest });
  projector.start();
  reactor.start();
  scan.start();
  const stopWatchdog = startWatchdog({
    db: reads,
    jobs,
    notifications,
    now: () => clock.now(),
    onFound: (found) => log.error({ jobs: found.length, first: found[0] }, 'the watchdog found work that nobody was doing'),
    onError: warn('the watchdog failed'),
  });

  const learnHead = async () => {
    const head = await store.head();
    if (head !== null) projected.sawHead(head);
  };

  const services: Services = {
    baseUrl: options.publicUrl,
    db: reads,
    accounts,
    progress: projected,
    findKey: (cleartext) => keys.find(cleartext),
    createCharge: new CreateChargeHandler({ commands, accounts, clock, providers, creation: creationProcess }),
    payInSandbox: payInSandbox({ commands, accounts, bank: sandboxPayer(operations, notifications, jobs), randomSuffix }),
    advanceClock: advanceClock({ commands, accounts }),
    registerWebhookEndpoint: registerWebhookEndpoint({ commands, accounts, secrets, sender, whileAlone: whileAlone(operations, reads, projected, learnHead) }),
    deleteWebhookEndpoint: deleteWebhookEndpoint({ commands, accounts }),
    deliveriesAtRest: (tenant, timeoutMs) => atRest.deliveries(tenant, timeoutMs),
    clockDrained: (accountId, timeoutMs) => atRest.clockDrained(accountId, timeoutMs),
    realNowMs: () => clock.now(),
  };

  const stop = async (graceMs: number): Promise<void> => {
    await stopWatchdog();
    await scan.stop();
    await jobs.stop(graceMs);
    await Promise.all([projector.stop(), reactor.stop()]);
    stopping.abort();
    await sender.close();
  };
  return { commands, accounts, services, projected, reacted, projector, reactor, jobs, stop };
};

const asConsumer = (projection: Projection) => {
  const writer = projection.writer(liveSchema(projection.name));
  const { name, categories } = projection;
  return { name, categories, reset: async () => writer.reset(), apply: writer.apply.bind(writer) };
};

/** 11 letters and digits for an end-to-end id. */
const randomSuffix = (): string => randomBytes(12).toString('base64url').replaceAll(/[-_]/g, 'x').slice(0, 11);
