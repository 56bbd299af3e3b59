// Operators' use cases that rebuild or verify read models in the background of a running program, one at a time (rule O1).
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { ReadModelRun, ReadModelRuns, WantedRun } from '../ports/readModelRuns.ts';
import type { ReadModelWork } from '../ports/readModelWork.ts';

export interface ReadModelRunsNeeds {
  readonly readModelWork: Pick<ReadModelWork, 'names' | 'rebuild' | 'verify'>;
  readonly readModelRuns: ReadModelRuns;
}

const NO_READ_MODEL = reject('not_found', 'There is no such read model.', { param: 'readModel' });
const RUNNING = reject(
  'work_in_progress',
  'A rebuild or verification of read models is running. Wait until it has ended.',
);

type Work = Parameters<ReadModelRuns['start']>[1];

const rebuilding =
  ({ readModelWork }: ReadModelRunsNeeds, name: string): Work =>
  async (signal, onProgress) => {
    const done = await readModelWork.rebuild(name, signal, onProgress);
    const rebuilt = done.map(({ projection, events, seconds }) => ({ readModel: projection, events, seconds }));
    return { rebuilt, verified: null };
  };

const verifying =
  ({ readModelWork }: ReadModelRunsNeeds): Work =>
  async (signal, onProgress) => {
    const { rows, differenceCount, differences, parked } = await readModelWork.verify(signal, onProgress);
    const tables = [...new Set(differences.map(({ table }) => table.replace(/ .*/, '')))];
    const verified = { rows, differences: differenceCount, tables, parkedStreams: parked.length };
    return { rebuilt: [], verified };
  };

/** Starts a run. Rejects with `not_found` for an unknown read model, and with `work_in_progress` while another run is under way. */
export const startReadModelRun =
  (needs: ReadModelRunsNeeds) =>
  (wanted: WantedRun): ReadModelRun | Rejection => {
    const { readModelWork, readModelRuns } = needs;
    const { work, readModel } = wanted;
    if (readModel !== 'all' && (work === 'verify' || !readModelWork.names.includes(readModel))) return NO_READ_MODEL;
    if (readModelRuns.list().some(({ state }) => state === 'running')) return RUNNING;
    return readModelRuns.start(wanted, work === 'rebuild' ? rebuilding(needs, readModel) : verifying(needs));
  };
