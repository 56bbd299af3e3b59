// The composition root: builds a gateway from adapters, capabilities and read models.
import type { ApiKeysNeeds } from '../../application/accounts/apiKeys.ts';
import { openApiKeys } from '../../application/accounts/followChanges.ts';
import { CAPABILITIES, DECLARED_SETTINGS, type Needs, NOTIFIED_WORK } from '../../application/capabilities.ts';
import { Accounts } from '../../application/core/accounts.ts';
import {
  consumersOf,
  declaredSettingsOf,
  jobsOf,
  operatorsOf,
  processesOf,
  useCasesOf,
  workOf,
} from '../../application/core/capabilityList.ts';
import { CommandHandler } from '../../application/core/commandHandler.ts';
import { pollUntil, Quiescence } from '../../application/core/quiescence.ts';
import { PaymentChanges } from '../../application/payments/paymentChanges.ts';
import { consumerName } from '../../application/ports/processManager.ts';
import type { ReadModelName } from '../../application/ports/readModels/progress.ts';
import { PROBE_RULE } from '../../application/webhooks/endpointHealth.ts';
import { StreamMessages } from '../../application/webhooks/streamMessages.ts';
import { deliver } from '../../application/webhooks/webhookDelivery.ts';
import { fanOutOf, webhookFanOut } from '../../application/webhooks/webhookFanOut.ts';
import { AGGREGATES } from '../../domain/aggregates.ts';
import type { GatewayContext } from '../../http/kernel/serverContext.ts';
import { createBeginnings } from '../../projections/engine/checkpoints.ts';
import { PROJECTIONS, readsOf } from '../../projections/registry.ts';
import { isShown } from '../../projections/webhooks/untried.ts';
import { accessLeases } from '../accounts/adapters.ts';
import { PostgresKeyUses } from '../accounts/keyUses.ts';
import { openAdapters } from '../adapters.ts';
import { ConfigError } from '../config/config.ts';
import { openJobs } from '../jobs/openJobs.ts';
import { warnings } from '../log/log.ts';
import { changesLog } from '../monitoring/securityLog.ts';
import { isRightKeyring } from '../secrets/secretsKey.ts';
import { followConsumers } from '../subscriptions/consumers.ts';
import { refusingOtherVersions } from '../subscriptions/otherVersions.ts';
import type { ParkedSet } from '../subscriptions/parkedSet.ts';
import { caughtUp } from '../subscriptions/progress.ts';
import { systemRandomness as randomness, systemStopwatch as stopwatch } from '../system/system.ts';
import { testTimers, timerKindsOf, timers } from '../timers/timerTable.ts';
import type { Core, Gateway, GatewayOptions, GivenByCore } from './gateway.ts';
import { projectorOf, startRebuilding, startWorker } from './roles.ts';

export const openGateway = async (options: GatewayOptions): Promise<Gateway> => {
  const core = await openCore(options);
  const projector = options.roles.projects ? projectorOf(options, core) : null;
  projector?.start();
  const stopRebuilding = projector === null ? null : startRebuilding(options, core, projector);
  const worker = options.roles.works ? startWorker(options, core) : null;
  const { commands, accounts, leases, services, projected, reacted, parked, jobs, capabilities } = core;
  const { needs } = core.work;
  return {
    ...{ commands, accounts, leases, services, projected, reacted, parked, jobs, needs, projector },
    clockFault: options.clockFault ?? (() => null),
    gauges: capabilities.flatMap(({ gauges }) =>
      gauges.map(({ read, ...gauge }) => ({ ...gauge, read: () => read(needs) })),
    ),
    reactor: worker?.reactor ?? null,
    stop: async (graceMs) => {
      await worker?.stop();
      await jobs.stop(graceMs);
      await stopRebuilding?.();
      await projector?.stop();
      await core.close();
    },
  };
};

export const openCore = async (options: GatewayOptions): Promise<Core> => {
  const { storage, log, clock, clockFault = () => null, projections = PROJECTIONS } = options;
  const capabilities = [...CAPABILITIES, ...(options.extension?.capabilities ?? [])] as const;
  const { store, codec, operations } = storage;
  if (!(await isRightKeyring(operations, options.keyring)))
    throw new ConfigError('SECRETS_KEY is not the key that sealed this database’s secrets');
  const commands = new CommandHandler({ store, codec, randomness, stopwatch });
  const declared = options.extension === undefined ? DECLARED_SETTINGS : declaredSettingsOf(capabilities);
  const accounts = new Accounts(commands, clock, declared);
  const aggregates = [...AGGREGATES, ...(options.extension?.aggregates ?? [])];
  const processes = processesOf(capabilities).map((one) => (one === webhookFanOut ? fanOutOf(aggregates) : one));
  const beginnings = processes.map((process) => ({ name: consumerName(process), from: process.from }));
  await createBeginnings(operations, store, beginnings);
  const names = processes.map(consumerName);
  const followed = await followConsumers(options, { readModels: projections, processes: names });
  const { projected, reacted, parked, leaders } = followed;
  const queues = jobsOf(capabilities).map(({ kind, owed }) => ({ kind, isOwedByRow: owed.by === 'row' }));
  const jobs = await openJobs(options, queues);
  const upTo = caughtUp(store, projected);
  const { derived } = storage;
  const reads = readsOf({ reads: refusingOtherVersions(storage.reads, projected), derived, store }, upTo);
  const closers: Parameters<GivenByCore['closing']>[0][] = [];
  const given: GivenByCore = {
    ...{ jobs, accounts, isShown, attempts: deliver.name, notifiedWork: NOTIFIED_WORK, probeRule: PROBE_RULE },
    readModels: reads,
    consumers: consumersOf(projections, processes),
    closing: (close) => void closers.push(close),
  };
  const adapters = await openAdapters({ ...options, ...given, projections });
  // Opened last of all that can fail, because it follows the log until it is closed.
  const keys = await openKeys(options, { commands, accounts, caughtUp: upTo, views: reads.views.keys });
  const { leases, apiKeys } = keys;
  const timerKinds = timerKindsOf(jobsOf(capabilities).map(({ kind }) => kind));
  const messages = new StreamMessages(commands, aggregates);
  const work = workOf<Needs>(capabilities, (declared) => ({
    ...{ commands, accounts, clock, stopwatch, randomness, jobs, projected, reacted },
    ...{ messages, leases, apiKeys, caughtUp: upTo },
    ...declared,
    ...reads,
    ...adapters,
    ...options.extension?.adapters(storage),
    quiescence: new Quiescence({ jobs, projected, reacted, stopwatch }, jobsOf(capabilities)),
    timers: timers(operations, timerKinds),
    testTimers: testTimers(operations, jobs, timerKinds),
    mayWork: () => clockFault() === null,
  }));
  store.onRestored((head) => {
    for (const memory of [commands, messages]) memory.forgetAll();
    apiKeys.forget(null);
    log.error({ head }, 'event log restored or taken over: cached data is dropped');
  });
  storage.dataKeys.onDestroyed(() => {
    for (const memory of [commands, messages]) memory.forgetAll();
  });
  return {
    ...{ commands, accounts, leases, projected, reacted, parked, leaders, jobs, capabilities, projections },
    ...{ processes, work, timerKinds },
    services: {
      ...useCasesOf(capabilities, work.needs, changesLog(log)),
      ...contextOf(options.publicUrl, work.needs, parked),
      platform: operatorsOf(capabilities, work.needs),
    },
    close: async () => {
      await keys.close();
      await followed.stop();
      options.mail.close();
      for (const close of closers) await close();
    },
  };
};

const contextOf = (
  baseUrl: string,
  { views, accounts, projected, stopwatch, caughtUp: upTo }: Needs,
  parked: ParkedSet,
): Omit<GatewayContext, 'platform'> => {
  const moves = (of?: ReadModelName) => ({
    stopwatch,
    onMove: (listener: () => void) => projected.onMove(listener, of),
  });
  const untilSeen: GatewayContext['untilSeen'] = (timeoutMs, look) => pollUntil(moves(), timeoutMs, look);
  const changes = new PaymentChanges(moves('payments'), views.payments);
  const untilPaymentSeen = changes.until.bind(changes);
  return { baseUrl, views, accounts, progress: projected, caughtUp: upTo, parked, untilSeen, untilPaymentSeen };
};

/** Opens this process's cache of API keys, which is valid under a lease. */
const openKeys = async (
  { storage, log, clock, accessLeases: timings }: GatewayOptions,
  needs: Pick<ApiKeysNeeds, 'commands' | 'accounts' | 'caughtUp' | 'views'>,
) => {
  const warn = warnings(log);
  const leases = accessLeases(storage, {
    onError: warn('access lease could not be renewed: keys are looked up for each request until it is'),
    ...(timings && { timings }),
  });
  const onError = warn('key uses could not be written');
  const uses = new PostgresKeyUses({ db: storage.operations, clock, onError });
  const stopping = new AbortController();
  const apiKeys = await openApiKeys(
    { ...needs, leases, uses, store: storage.store },
    () => leases.follow(storage.notices),
    {
      signal: stopping.signal,
      stopwatch,
      onError: warn('following accounts and keys failed'),
    },
  );
  const close = async () => {
    stopping.abort();
    await Promise.all([leases.close(), uses.close()]);
  };
  return { leases, apiKeys, close };
};
