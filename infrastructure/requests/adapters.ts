// Adapters of the request log.

import type { SqlPool } from '../../application/ports/sql.ts';
import type { Clock } from '../../application/ports/system.ts';
import { capabilityAdapters } from '../capabilityAdapters.ts';
import { requestLogReads, requestUpkeep } from './requestLog.ts';

interface World {
  readonly storage: { readonly reads: SqlPool; readonly operations: SqlPool };
  readonly clock: Clock;
  /** How many days requests are kept. */
  readonly requestLogDays: number;
}

const operatorsAdapters = ({ storage }: Pick<World, 'storage'>) => ({ requestLog: requestLogReads(storage.reads) });

export const requests = capabilityAdapters({
  adapters: (world: World) => ({
    ...operatorsAdapters(world),
    requestUpkeep: requestUpkeep(world.storage.operations, world.clock, world.requestLogDays),
  }),
  operatorsAdapters,
  terminal: () => import('./terminal.ts'),
});
