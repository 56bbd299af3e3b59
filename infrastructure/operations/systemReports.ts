// Checks the deployment in the background of this process, and keeps the newest report in memory.
import { setTimeout as pause } from 'node:timers/promises';
import { EventStoreUnavailable } from '../../application/ports/eventStore.ts';
import type { Clock } from '../../application/ports/system.ts';
import type { Finding } from '../../application/ports/systemChecks.ts';
import type { SystemReport, SystemReports } from '../../application/ports/systemReports.ts';
import { fromMillis } from '../../domain/kernel/time.ts';
import type { Closing } from '../capabilityAdapters.ts';
import type { Log } from '../log/log.ts';

export interface ReportsWorld extends Closing {
  readonly clock: Clock;
  readonly log: Log;
}

const CLOSING_MS = 1_000;

/** The user and password of a URL. */
const CREDENTIALS = /(?<=:\/\/)[^/\s]*@/g;

/** Returns the line about checks that could not be completed. Errors of a refused connection may have only a code. */
const failureOf = (error: unknown): Finding => {
  const { message, code } = error as { readonly message?: string; readonly code?: unknown };
  const lines = (message || String(code ?? error)).replaceAll(CREDENTIALS, '').split('\n');
  const says = lines.map((line) => line.trim()).join(' ');
  return error instanceof EventStoreUnavailable
    ? { check: 'event store', isGood: false, says }
    : { check: 'checks', isGood: false, says: `they could not be completed: ${says}` };
};

export const openSystemReports = ({ clock, log, closing }: ReportsWorld): SystemReports => {
  let report: SystemReport | null = null;
  let running: Promise<void> | null = null;
  // A check may hang, and must not delay the closing of other resources.
  closing(async () => void (await Promise.race([running, pause(CLOSING_MS, undefined, { ref: false })])));
  const run = async (check: Parameters<SystemReports['make']>[0]): Promise<void> => {
    let findings: readonly Finding[];
    try {
      findings = await check();
    } catch (err) {
      log.warn({ err }, 'the checks of the deployment could not be completed');
      findings = [failureOf(err)];
    }
    report = { findings, madeAt: fromMillis(clock.now()) };
  };
  return {
    newest: () => ({ report, isChecking: running !== null }),
    make: (check) => {
      running ??= run(check).finally(() => {
        running = null;
      });
      return running;
    },
  };
};
