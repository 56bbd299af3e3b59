// The progress of the log's consumers and their parked streams, as this process knows them. The consumers may run in other processes.

import type { ReadModelName } from '../../application/ports/readModels/progress.ts';
import type { Storage } from '../boot/storage.ts';
import { type Log, warnings } from '../log/log.ts';
import { ParkedSet } from './parkedSet.ts';
import { LogProgress, PROGRESS, watchCheckpoints } from './progress.ts';

interface Watched {
  readonly storage: Storage;
  readonly log: Log;
}

/** `names`: the consumers of the role. They may run in other processes, even if this process has the role: it may be the standby. */
const progressOf = async <Name extends string>(
  { storage, log }: Watched,
  role: string,
  names: readonly Name[],
  versions: ReadonlyMap<string, number>,
) => {
  const progress = new LogProgress<Name>(() => performance.now(), names, versions);
  await progress.follow(storage.store, storage.notices, role);
  const onError = warnings(log)(`the progress of the ${role} could not be read`);
  const { look, stop } = await watchCheckpoints(storage.reads, progress, onError);
  await storage.notices.on(PROGRESS, (payload) => payload === '' && look());
  return { progress, stop };
};

/** The parked streams as this process knows them. Every process logs each of them. */
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

/** Follows the consumers' progress and parked streams. `leaders` are called when an operator may have asked for a retry. */
export const followConsumers = async (
  options: Watched,
  consumers: {
    readonly readModels: readonly { readonly name: ReadModelName; readonly version: number }[];
    readonly processes: readonly string[];
  },
) => {
  const { readModels, processes } = consumers;
  const versions = new Map(readModels.map(({ name, version }) => [name, version]));
  const { progress: projected, stop: stopProjected } = await progressOf(
    options,
    'projector',
    [...versions.keys()],
    versions,
  );
  const { progress: reacted, stop: stopReacted } = await progressOf(options, 'reactor', processes, new Map());
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
