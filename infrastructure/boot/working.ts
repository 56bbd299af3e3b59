// What a worker process runs: the reactor, the workers of all queues, the timer scan, the watchdog and the schedule of reconciliation.

import { PROBE_RULE } from '../../application/webhooks/endpointHealth.ts';
import type { Subscriptions } from '../../projections/engine/subscriptions.ts';
import { failingTargets } from '../operations/failingTargets.ts';
import { TimerScan } from '../timers/timerScan.ts';
import { type Core, warnings } from './core.ts';
import { reactorOf } from './following.ts';
import type { GatewayOptions } from './gateway.ts';
import { startReconciliationSchedule } from './reconciliationSchedule.ts';
import { startSchedule } from './schedule.ts';
import { startWatchdog } from './watchdog.ts';
import { startWorkers } from './workers.ts';

export interface Working {
  readonly reactor: Subscriptions;
  stop(): Promise<void>;
}

export const startWorking = (options: GatewayOptions, core: Core): Working => {
  const { storage, log, clock, clockFault = () => null } = options;
  const mayWork = () => clockFault() === null;
  const { jobs, notifications, providers } = core;
  const warn = warnings(log);
  const scan = new TimerScan(storage.operations, jobs, clock, warn('the timer scan failed'), mayWork);
  const reactor = reactorOf(options, core, (earliest) => scan.nudge(earliest));
  startWorkers({ storage, clock, log, ...core });
  reactor.start();
  scan.start();
  const stopWatchdog = startWatchdog({
    db: storage.reads,
    jobs,
    notifications,
    now: () => clock.now(),
    isLeading: () => reactor.isLeading,
    onFound: (found) =>
      log.error({ jobs: found.length, first: found[0] }, 'the watchdog found work that nobody was doing'),
    onError: warn('the watchdog failed'),
  });
  const stopSchedule = startReconciliationSchedule({
    db: storage.reads,
    jobs,
    providers,
    now: () => clock.now(),
    isLeading: () => reactor.isLeading,
    onError: warn('tenants to reconcile could not be listed'),
  });
  const targets = failingTargets(storage.derived, PROBE_RULE);
  const stopForgetting = startSchedule(
    '0 17 * * * *',
    () => targets.forgetOld(),
    warn('targets that failed long ago could not be forgotten'),
  );
  const stop = async () => {
    await stopForgetting();
    await stopSchedule();
    await stopWatchdog();
    await scan.stop();
    await reactor.stop();
  };
  return { reactor, stop };
};
