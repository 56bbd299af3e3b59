// Adapters for erasures of personal data.
import type { DataKeys } from '../../application/ports/dataKeys.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import { capabilityAdapters } from '../capabilityAdapters.ts';
import type { Config } from '../config/config.ts';
import type { Log } from '../log/log.ts';
import { erasureLog } from '../monitoring/securityLog.ts';
import { personalRecords } from './personalRecords.ts';
import { retentionProgress } from './retentionProgress.ts';

interface World {
  readonly storage: { readonly operations: SqlPool; readonly dataKeys: DataKeys };
  readonly retentionYears: number;
  readonly eraseAfterRetention: boolean;
  readonly log: Log;
}

export const privacy = capabilityAdapters({
  adapters: ({ storage: { operations, dataKeys }, retentionYears, eraseAfterRetention, log }: World) => ({
    personalRecords,
    dataKeys,
    retentionProgress: retentionProgress(operations),
    erasing: operations,
    onErased: erasureLog(log),
    retentionYears,
    erasesAfterRetention: eraseAfterRetention,
  }),
  operatorsAdapters: ({ config }: { readonly config: Pick<Config, 'retentionYears'> }) => ({
    retentionYears: config.retentionYears,
  }),
  terminal: () => import('./terminal.ts'),
});
