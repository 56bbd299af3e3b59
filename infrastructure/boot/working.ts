// What a worker process runs: the reactor, the workers of all queues, the timer scan, the watchdog and the schedule of reconciliation.
import type { Followers } from '../../projections/engine/followers.ts';
import { TimerScan } from '../processes/timerScan.ts';
import { type Core, warnings } from './core.ts';
import { reactorOf } from './following.ts';
import type { GatewayOptions } from './gateway.ts';
import { startReconciliationSchedule } from './reconciliationSchedule.ts';
import { startWatchdog } from './watchdog.ts';
import { startWorkers } from './workers.ts';

export interface Working {
  readonly reactor: Followers;
  stop(): Promise<void>;
}

export const startWorking = (options: GatewayOptions, core: Core): Working => {
  const { storage, log, clock } = options;
  const { jobs, notifications, providers } = core;
  const warn = warnings(log);
  const scan = new TimerScan(storage.operations, jobs, clock, warn('the timer scan failed'));
  const reactor = reactorOf(options, core, (earliest) => scan.nudge(earliest));
  startWorkers({ storage, clock, log, ...core });
  reactor.start();
  scan.start();
  const stopWatchdog = startWatchdog({
    db: storage.reads,
    jobs,
    notifications,
    now: () => clock.now(),
    onFound: (found) =>
      log.error({ jobs: found.length, first: found[0] }, 'the watchdog found work that nobody was doing'),
    onError: warn('the watchdog failed'),
  });
  const stopSchedule = startReconciliationSchedule({
    db: storage.reads,
    jobs,
    providers,
    now: () => clock.now(),
    onError: warn('tenants to reconcile could not be listed'),
  });
  const stop = async () => {
    await stopSchedule();
    await stopWatchdog();
    await scan.stop();
    await reactor.stop();
  };
  return { reactor, stop };
};
