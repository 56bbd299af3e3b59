// What reconciliation asks of the read models: whose txids these are, missing no payment that was created before the question.
import type { EventStore } from '../../application/ports/eventStore.ts';
import type { Tenant } from '../../application/ports/paymentProvider.ts';
import { type ReadModelName, ReadModelsBehind } from '../../application/ports/readModels.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { findPaymentsByTxid } from '../../projections/payments/queries.ts';
import type { LogProgress } from '../subscriptions/progress.ts';
import { levelWithLog } from './levelWithLog.ts';

/** Nobody waits for the answer; beyond it the job comes again. */
const CATCH_UP_MS = 10_000;

export const paymentsByTxid =
  (store: Pick<EventStore, 'head'>, reads: Sql, progress: Pick<LogProgress<ReadModelName>, 'sawHead' | 'caughtUp'>) =>
  async (tenant: Tenant, txids: readonly string[]): Promise<ReadonlyMap<string, PaymentId>> => {
    if (!(await levelWithLog(store, progress, 'payments')(CATCH_UP_MS)).isLevel)
      throw new ReadModelsBehind('payments could not be looked for by their txids');
    return findPaymentsByTxid(reads, tenant, txids);
  };
