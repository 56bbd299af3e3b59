// Adapters of analysts' access.
import type { SqlPool } from '../../application/ports/sql.ts';
import { capabilityAdapters } from '../capabilityAdapters.ts';
import type { Log } from '../log/log.ts';
import { analysts } from './analysts.ts';

interface World {
  readonly storage: { readonly operations: SqlPool };
  /** Whether the database is the embedded one, whose processes run on this machine. */
  readonly isAlone: boolean;
  readonly log: Log;
}

const adapters = ({ storage: { operations }, isAlone, log }: World) => {
  const all = analysts(operations, isAlone);
  const restrain: typeof all.restrain = async () => {
    const ended = await all.restrain();
    for (const session of ended) log.warn(session, 'analyst session ended');
    return ended;
  };
  return { analysts: { ...all, restrain } };
};

export const analytics = capabilityAdapters({
  adapters,
  operatorsAdapters: ({ storage }: Pick<World, 'storage'>) => ({ analysts: analysts(storage.operations, false) }),
  terminal: () => import('./terminal.ts'),
});
