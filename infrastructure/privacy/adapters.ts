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

interface OperatorsWorld {
  readonly config: Pick<Config, 'retentionYears'>;
  readonly storage: { readonly dataKeys: DataKeys };
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
  operatorsAdapters: ({ config, storage }: OperatorsWorld) => ({
    dataKeys: storage.dataKeys,
    retentionYears: config.retentionYears,
  }),
  terminal: () => import('./terminal.ts'),
});
