// What the read models show to be overdue.
import type { OverdueWork } from '../application/ports/readModels/overdueWork.ts';
import type { Sql } from '../application/ports/sql.ts';
import { overduePayments } from './payments/queries.ts';
import { overdueDeliveries } from './webhooks/queries.ts';

export const overdueWork = (db: Sql): OverdueWork => ({
  payments: (before, page) => overduePayments(db, before, page),
  deliveries: (before, page) => overdueDeliveries(db, before, page),
});
