// What a worker process runs: the reactor, the workers of all queues, the timer scan, the watchdog, and what comes round by the clock.
import type { Needs } from '../../application/capabilities.ts';
import { type Job, jobsOf } from '../../application/core/capability.ts';
import { lookIfLeading } from '../../application/core/watchdog.ts';
import type { Subscriptions } from '../../projections/engine/subscriptions.ts';
import { startSchedule } from '../system/schedule.ts';
import { TimerScan } from '../timers/timerScan.ts';
import { type Core, warnings } from './core.ts';
import type { GatewayOptions } from './gateway.ts';
import { reactorOf } from './logConsumers.ts';

export interface WorkerRole {
  readonly reactor: Subscriptions;
  stop(): Promise<void>;
}

/** Twice a minute, where the reactor leads: one watchdog a deployment. */
const WATCHDOG_PATTERN = '*/30 * * * * *';

export const startWorker = (options: GatewayOptions, core: Core): WorkerRole => {
  const { storage, log, clock, clockFault = () => null } = options;
  const { jobs, needs, handlers, capabilities } = core;
  const warn = warnings(log);
  const mayWork = () => clockFault() === null;
  const scan = new TimerScan(storage.operations, jobs, core.jobOfTimer, clock, warn('the timer scan failed'), mayWork);
  const reactor = reactorOf(options, core, (earliest) => scan.nudge(earliest));
  const declared = jobsOf(capabilities);
  for (const { kind, places } of declared) {
    const handler = handlers.get(kind.name);
    if (handler !== undefined) jobs.work(kind.name, handler, places);
  }
  reactor.start();
  scan.start();
  const lookFor = (owing: readonly Job<Needs>[]) => lookIfLeading(() => reactor.isLeading, owing, needs);
  const watch = async () => {
    const found = await lookFor(declared.filter(({ routine }) => routine === undefined));
    if (found.length > 0)
      log.error({ jobs: found.length, first: found[0] }, 'the watchdog found work that nobody was doing');
  };
  const stopSchedules = [
    startSchedule(WATCHDOG_PATTERN, watch, warn('the watchdog failed')),
    ...declared.flatMap((job) =>
      job.routine === undefined
        ? []
        : startSchedule(
            job.routine,
            async () => void (await lookFor([job])),
            warn(`work of ${job.kind.name} could not be looked for`),
          ),
    ),
    ...capabilities.flatMap(({ upkeep }) =>
      upkeep.map(({ pattern, run, failure }) => startSchedule(pattern, () => run(needs), warn(failure))),
    ),
  ];
  const stop = async () => {
    for (const stopSchedule of stopSchedules) await stopSchedule();
    await scan.stop();
    await reactor.stop();
  };
  return { reactor, stop };
};
