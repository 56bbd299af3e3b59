// What every role needs: commands, accounts, how far the followers are, the job queue, and the adapters of the outside world.
import { Accounts } from '../../application/accounts/accounts.ts';
import { CommandHandler } from '../../application/core/commandHandler.ts';
import { CreationProcess } from '../../application/payments/issueInstruments.ts';
import type { PaymentProviders } from '../../application/ports/paymentProvider.ts';
import type { ProviderNotifications } from '../../application/ports/providerNotifications.ts';
import type { ReadModelName } from '../../application/ports/readModels.ts';
import type { WebhookSecrets } from '../../application/ports/secrets.ts';
import type { WebhookSender } from '../../application/ports/webhookSender.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { PgBossJobs } from '../jobs/pgBossJobs.ts';
import type { Log } from '../log/log.ts';
import { securityLog } from '../log/securityLog.ts';
import { tellingOfBlocked } from '../log/securityTelling.ts';
import { providerNotifications } from '../operations/providerNotifications.ts';
import { SandboxBank } from '../providers/sandbox/bank.ts';
import { isRightSecretsKey } from '../secrets/keyCheck.ts';
import { webhookSecrets } from '../secrets/webhookSecrets.ts';
import { ParkedSet } from '../subscriptions/parkedSet.ts';
import { LogProgress } from '../subscriptions/progress.ts';
import { watchCheckpoints } from '../subscriptions/watchCheckpoints.ts';
import { systemRandomness } from '../system/randomness.ts';
import { systemStopwatch } from '../system/stopwatch.ts';
import { creationTimers } from '../timers/timerTable.ts';
import { openWebhookSender } from '../webhookSender/webhookSender.ts';
import { ApiKeys } from './apiKeys.ts';
import { AtRest } from './atRest.ts';
import { followCacheInvalidation } from './cacheInvalidation.ts';
import { ConfigError } from './config.ts';
import type { GatewayOptions } from './gateway.ts';
import { PROCESSES } from './processManagers.ts';

export interface Core {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly keys: ApiKeys;
  readonly projected: LogProgress<ReadModelName>;
  readonly reacted: LogProgress;
  readonly parked: ParkedSet;
  /** Called when an operator may want parked streams taken up again: whoever leads looks. */
  readonly leaders: (() => void)[];
  readonly jobs: PgBossJobs;
  readonly providers: PaymentProviders;
  readonly notifications: ProviderNotifications;
  readonly secrets: WebhookSecrets;
  readonly sender: WebhookSender;
  readonly creation: CreationProcess;
  readonly atRest: AtRest;
  /** Ends the subscriptions that this core holds, and the sender's connections. */
  close(): Promise<void>;
}

export const warnings =
  (log: Log) =>
  (what: string) =>
  (error: Error): void =>
    log.warn({ err: error }, what);

/** `names`: the followers of the role. They may run in other processes, whatever this one does: it may be the standby. */
const progressOf = async <Name extends string>(
  { storage, log }: GatewayOptions,
  role: string,
  names: readonly Name[],
) => {
  const progress = new LogProgress<Name>(() => performance.now(), names);
  await progress.follow(storage.store, storage.notices, role);
  const onError = warnings(log)(`how far the ${role} is could not be read`);
  const stop = await watchCheckpoints(storage.reads, progress, onError);
  return { progress, stop };
};

const PROJECTION_NAMES = PROJECTIONS.map(({ name }) => name as ReadModelName);
const PROCESS_NAMES = PROCESSES.map(({ name }) => `process/${name}`);

/** An operator is told in every process's log. */
const parkedSetOf = ({ storage, log }: GatewayOptions, onChange: () => void): ParkedSet =>
  new ParkedSet({
    db: storage.reads,
    onFound: (streams) => log.error({ streams }, 'streams are parked: npm run cli -- parked list'),
    onParked: ({ consumer, stream, revision, eventType, error }) =>
      log.error(
        { consumer, stream, revision, eventType, ...(error !== undefined && { reason: error }) },
        'a stream was parked: an event in it could not be taken, all other streams go on',
      ),
    onChange,
    onError: warnings(log)('parked streams could not be read'),
  });

export const openCore = async (options: GatewayOptions): Promise<Core> => {
  const { storage, log, clock, clockFault = () => null } = options;
  const { store, reads, operations, derived, notices } = storage;
  if (!(await isRightSecretsKey(operations, options.secretsKey)))
    throw new ConfigError('SECRETS_KEY is not the key that this database’s secrets were sealed with');
  const commands = new CommandHandler({ store, randomness: systemRandomness, stopwatch: systemStopwatch });
  const accounts = new Accounts(commands, clock);
  const { progress: projected, stop: stopProjected } = await progressOf(options, 'projector', PROJECTION_NAMES);
  const { progress: reacted, stop: stopReacted } = await progressOf(options, 'reactor', PROCESS_NAMES);
  const leaders: (() => void)[] = [];
  const parked = parkedSetOf(options, () => {
    for (const look of leaders) look();
  });
  await parked.follow(notices);
  const keys = new ApiKeys(reads, projected);
  const stopping = new AbortController();
  await followCacheInvalidation(
    store,
    commands,
    keys,
    stopping.signal,
    warnings(log)('following accounts and keys failed'),
  );
  const jobs = await PgBossJobs.open({
    pool: derived,
    notices,
    mayClaim: () => clockFault() === null,
    onError: (err, { queue, items, isFinal }) =>
      isFinal
        ? log.error({ err, queue, items }, 'a job failed for good: npm run cli -- jobs list')
        : log.warn({ err, queue, items }, 'a job failed and will be tried again'),
  });
  if (options.isAlone) await jobs.releaseClaims();
  const bank = new SandboxBank({
    db: operations,
    wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    confirmsRefunds: async (id) => (await accounts.refresh(id)).sandbox.autoConfirmRefunds,
    now: (id) => accounts.now(id, 'test'),
  });
  const providers: PaymentProviders = { of: (mode) => (mode === 'test' ? bank : options.liveProvider) };
  const sender = tellingOfBlocked(openWebhookSender({ allowPrivate: options.webhookAllowPrivate }), securityLog(log));
  return {
    commands,
    accounts,
    keys,
    projected,
    reacted,
    parked,
    leaders,
    jobs,
    providers,
    notifications: providerNotifications(operations, jobs),
    secrets: webhookSecrets(operations, options.secretsKey),
    sender,
    creation: new CreationProcess({
      commands,
      accounts,
      providers,
      timers: creationTimers(operations),
    }),
    atRest: new AtRest({ db: reads, jobs, accounts, projected, reacted }),
    close: async () => {
      stopping.abort();
      stopProjected();
      stopReacted();
      parked.stop();
      await sender.close();
    },
  };
};
