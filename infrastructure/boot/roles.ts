// Starts the roles of a process. The projector writes read models. A worker turns events into jobs and timers (the reactor), and runs
// the workers of all queues, the timer scan, the watchdog and scheduled work.

import type { Needs } from '../../application/capabilities.ts';
import type { Job } from '../../application/core/capability.ts';
import { jobsOf } from '../../application/core/capabilityList.ts';
import { lookIfLeading } from '../../application/core/watchdog.ts';
import type { LogConsumer } from '../../application/ports/consumers.ts';
import { closedCodec } from '../../application/ports/eventCodec.ts';
import { liveSchema, type Projection } from '../../projections/engine/projection.ts';
import { startPublishing } from '../../projections/engine/publishing.ts';
import { prepareLiveCopies } from '../../projections/engine/rebuild.ts';
import { haveReadModels } from '../../projections/engine/schemaVersions.ts';
import { Subscriptions } from '../../projections/engine/subscriptions.ts';
import { startVersionWork } from '../../projections/engine/versionWork.ts';
import { shareOf } from '../eventStore/share.ts';
import { warnings } from '../log/log.ts';
import { Reactor } from '../reactions/reactor.ts';
import { startSchedule as startByTheClock } from '../system/schedule.ts';
import { TimerScan } from '../timers/timerScan.ts';
import { processMemories } from '../webhooks/adapters.ts';
import type { Core, GatewayOptions } from './gateway.ts';

const shared = ({ storage, log, onMismatch }: GatewayOptions, { parked }: Core) => ({
  store: storage.store,
  codec: storage.codec,
  openSession: storage.openSession,
  onMismatch,
  onParked: (streams: Parameters<typeof parked.parked>[0]) => parked.parked(streams),
  onTaken: (consumer: string, stream: string) => parked.taken(consumer, stream),
  onRestart: warnings(log)('log subscription failed and is retried'),
  onFault: (name: string, err: Error) =>
    log.error({ err, name }, 'log consumer failed: it makes no progress until the cause is fixed'),
});

/** Makes the subscriptions check for parked streams to retry whenever an operator asks for it. Returns the subscriptions. */
const attending = (subscriptions: Subscriptions, { leaders }: Core): Subscriptions => {
  leaders.push(() => void subscriptions.attend());
  return subscriptions;
};

const asConsumer = (projection: Projection, partitions = 1): LogConsumer => {
  const writer = projection.writer(liveSchema(projection.name), partitions);
  const { name, categories, isByAccount, isDecidedOn = false } = projection;
  return {
    ...{ name, categories, isDecidedOn, reset: async () => writer.reset(), apply: writer.apply.bind(writer) },
    ...(isByAccount && { ofPartition: (count: number) => asConsumer(projection, count) }),
  };
};

export const projectorOf = (options: GatewayOptions, core: Core): Subscriptions =>
  attending(
    new Subscriptions({
      ...shared(options, core),
      role: 'projector',
      consumers: core.projections.map((projection) => asConsumer(projection)),
      versionOf: ({ name }) => core.projections.find((projection) => projection.name === name)?.version ?? 1,
      prepare: prepareLiveCopies(core.projections, options.storage),
      onOtherVersions: (readModels) =>
        options.log.warn({ readModels }, 'read models have another version: they are rebuilt beside the others'),
      onMoved: (...progress) => core.projected.moved(...progress),
    }),
    core,
  );

/** A rebuild rests if live read models make no progress for longer than this. */
const BEHIND_MS = 250;
/** A read model without progress for longer than this has failed. A rebuild that waited for it would rest for ever. */
const FAILED_MS = 10_000;

/** Starts rebuilding read models of another version, and replacing views of another definition. Returns a function that stops both. */
export const startRebuilding = (
  { storage, log }: GatewayOptions,
  { projections, projected }: Core,
  projector: Subscriptions,
): (() => Promise<void>) => {
  const stopPublishing = startPublishing({
    projections,
    db: storage.operations,
    isLed: (name) => projector.ledOf(name) > 0,
    onError: warnings(log)('views of read models could not be replaced'),
  });
  const stopVersionWork = startVersionWork({
    projections,
    log: storage,
    openSession: storage.openSession,
    db: storage.reads,
    isOrphaned: (name) => projector.isOrphaned(name),
    isBehind: () => projected.standingStill(BEHIND_MS, FAILED_MS).length > 0,
    onProgress: (readModels, { state, position, events }) =>
      log.info({ readModels, events, share: shareOf(position, projected.head) }, `rebuild of a new version ${state}`),
    onError: warnings(log)('read models could not be rebuilt in this version'),
  });
  return async () => {
    await Promise.all([stopPublishing(), stopVersionWork()]);
  };
};

/** The duty of the one worker that runs the watchdog, the scheduled checks and the upkeep of the deployment. */
const SCHEDULE = 'schedule';

/** `onTimers` is called when timers were set, with the due time of the earliest, in account time. */
const reactorOf = (options: GatewayOptions, core: Core, onTimers: (earliest: string) => void): Subscriptions => {
  const needs = { jobs: core.jobs, onTimers, effects: core.work.effects, memories: processMemories };
  return attending(
    new Subscriptions({
      ...shared(options, core),
      codec: closedCodec(options.storage.codec), // no reaction depends on personal data
      role: 'reactor',
      consumers: core.processes.map((process) => new Reactor(process, needs)),
      duties: [SCHEDULE],
      onMoved: (...progress) => core.reacted.moved(...progress),
    }),
    core,
  );
};

interface WorkerRole {
  readonly reactor: Subscriptions;
  stop(): Promise<void>;
}

/** Twice a minute, only in the process that has the duty: one watchdog per deployment. */
const WATCHDOG_PATTERN = '*/30 * * * * *';

export const startWorker = (options: GatewayOptions, core: Core): WorkerRole => {
  const { storage, log, clock, clockFault = () => null, startSchedule = startByTheClock } = options;
  const { jobs, capabilities } = core;
  const { needs, handlers } = core.work;
  const warn = warnings(log);
  const mayWork = () => clockFault() === null;
  const scan = new TimerScan(storage.operations, jobs, core.timerKinds, clock, warn('timer scan failed'), mayWork);
  const reactor = reactorOf(options, core, (earliest) => scan.nudge(earliest));
  const declared = jobsOf(capabilities);
  for (const { kind, places } of declared) {
    const handler = handlers.get(kind.name);
    if (handler !== undefined) jobs.work(kind.name, handler, places);
  }
  reactor.start();
  scan.start();
  const isOnDuty = () => reactor.led.includes(SCHEDULE);
  const lookFor = (owing: readonly Job<Needs>[]) => lookIfLeading(isOnDuty, owing, needs);
  const watch = async () => {
    const found = await lookFor(declared.filter(({ routine }) => routine === undefined));
    if (found.length > 0)
      log.error({ jobs: found.length, first: found[0] }, 'watchdog restarted work that was overdue');
  };
  let haveTables = false;
  const schedule = (pattern: string, run: () => Promise<unknown>, failure: string): (() => Promise<void>) => {
    const round = async () => {
      haveTables ||= await haveReadModels(storage.reads, core.projections);
      if (haveTables) await run();
    };
    return startSchedule(pattern, round, warn(failure), log);
  };
  const stopSchedules = [
    schedule(WATCHDOG_PATTERN, watch, 'watchdog failed'),
    ...declared.flatMap((job) =>
      job.routine === undefined
        ? []
        : schedule(job.routine, () => lookFor([job]), `scheduled check for ${job.kind.name} failed`),
    ),
    ...capabilities.flatMap(({ upkeep = [] }) =>
      upkeep.map(({ pattern, run, failure, onlyLeader = false }) =>
        schedule(pattern, async () => (!onlyLeader || isOnDuty() ? run(needs) : undefined), failure),
      ),
    ),
  ];
  const stop = async () => {
    for (const stopSchedule of stopSchedules) await stopSchedule();
    await scan.stop();
    await reactor.stop();
  };
  return { reactor, stop };
};
