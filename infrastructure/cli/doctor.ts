// `doctor`: checks the deployment and reports problems.
import { EventStoreUnavailable } from '../../application/ports/eventStore.ts';
import type { Finding } from '../../application/ports/systemChecks.ts';
import { diagnoseEventStoreDb } from '../eventStore/eventStoreDb/eventStoreDb.ts';
import { afterRestore } from './afterRestore.ts';
import { type CliCommand, type CliResult, UsageError } from './command.ts';
import { explained } from './explain.ts';
import type { Screen } from './output.ts';

const resultOf = (findings: readonly Finding[]): CliResult => {
  const text = ({ colours }: Screen) =>
    findings
      .map(({ check, isGood, says }) => {
        const mark = (isGood ? 'ok' : 'BAD').padEnd(4);
        return `${isGood ? colours.green(mark) : colours.bold(colours.red(mark))}  ${check.padEnd(26)} ${says}`;
      })
      .join('\n');
  return { json: { findings }, text, isBad: findings.some(({ isGood }) => !isGood) };
};

const bad = (check: string, says: string): Finding => ({ check, isGood: false, says });

const doctor: CliCommand = {
  name: 'doctor',
  summary: 'Check database, durability, connections, clocks, event store, lag and failed jobs, and report problems',
  options: {
    'after-restore': {
      description:
        'PostgreSQL was restored to a state older than the log, and the programs are stopped: also check what the log names, end sessions and mark restored work',
      flag: true,
    },
    all: {
      description:
        'with --after-restore: a program has run since the restore, so compare all events, not only those of the lost time',
      flag: true,
    },
  },
  changes: 'withOptions',
  run: async (world, { options }) => {
    const isRestored = options['after-restore'] === true;
    const comparesAll = options['all'] === true;
    if (comparesAll && !isRestored) throw new UsageError('--all needs --after-restore');
    const restored = isRestored ? await afterRestore(world, comparesAll) : [];
    return resultOf([...restored, ...(await world.platform.checkSystem())]);
  },
  whenUnopened: async ({ eventStoreUrl }, error) => {
    const says = explained(error);
    if (says === null) return null;
    if (!(error instanceof EventStoreUnavailable)) return resultOf([bad('database', says)]);
    const first = bad('event store', `can't be opened: ${error.message}`);
    return resultOf([first, ...(eventStoreUrl === null ? [] : await diagnoseEventStoreDb(eventStoreUrl))]);
  },
};

export const doctorCommands: readonly CliCommand[] = [doctor];
