// How far the consumers of the log are, and what they have parked, as this process knows it: they may run in others.

import type { ReadModelName } from '../../application/ports/readModels/progress.ts';
import type { Storage } from '../boot/storage.ts';
import { type Log, warnings } from '../log/log.ts';
import { ParkedSet } from './parkedSet.ts';
import { LogProgress, watchCheckpoints } from './progress.ts';

interface Watched {
  readonly storage: Storage;
  readonly log: Log;
}

/** `names`: the consumers of the role. They may run in other processes, whatever this one does: it may be the standby. */
const progressOf = async <Name extends string>({ storage, log }: Watched, role: string, names: readonly Name[]) => {
  const progress = new LogProgress<Name>(() => performance.now(), names);
  await progress.follow(storage.store, storage.notices, role);
  const onError = warnings(log)(`the progress of the ${role} could not be read`);
  const stop = await watchCheckpoints(storage.reads, progress, onError);
  return { progress, stop };
};

/** The parked streams as this process knows them; each one is reported in the log of every process. */
const parkedSetOf = ({ storage, log }: Watched, onChange: () => void): ParkedSet =>
  new ParkedSet({
    db: storage.reads,
    onFound: (streams) => log.error({ streams }, 'streams are parked: run npm run cli -- parked list'),
    onParked: ({ consumer, stream, revision, eventType, error }) =>
      log.error(
        { consumer, stream, revision, eventType, ...(error !== undefined && { reason: error }) },
        'stream parked: one of its events could not be processed; all other streams continue',
      ),
    onChange,
    onError: warnings(log)('the parked streams could not be read'),
  });

/** Follows how far the consumers are and what they have parked. `leaders`: called when an operator may want those taken up again. */
export const followConsumers = async (
  options: Watched,
  names: { readonly readModels: readonly ReadModelName[]; readonly processes: readonly string[] },
) => {
  const { progress: projected, stop: stopProjected } = await progressOf(options, 'projector', names.readModels);
  const { progress: reacted, stop: stopReacted } = await progressOf(options, 'reactor', names.processes);
  const leaders: (() => void)[] = [];
  const parked = parkedSetOf(options, () => {
    for (const look of leaders) look();
  });
  await parked.follow(options.storage.notices);
  const stop = async () => {
    await stopProjected();
    await stopReacted();
    await parked.stop();
  };
  return { projected, reacted, parked, leaders, stop };
};
