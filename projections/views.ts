// What all read models show, to routes and to the watchdog, over one pool of connections.

import type { OverdueWork } from '../application/ports/readModels/overdueWork.ts';
import type { Views } from '../application/ports/readModels/views.ts';
import type { Sql, SqlPool } from '../application/ports/sql.ts';
import { accountViews } from './accounts/queries.ts';
import { caseViews } from './disputes/queries.ts';
import { keyViews } from './keyring/queries.ts';
import { overduePayments, paymentViews } from './payments/queries.ts';
import { refundViews } from './refunds/queries.ts';
import { statsViews } from './stats/queries.ts';
import { userViews } from './users/queries.ts';
import { walletViews } from './wallet/queries.ts';
import { deliveryViews } from './webhooks/lists.ts';
import { endpointViews, overdueDeliveries } from './webhooks/queries.ts';

export const viewsOf = (db: SqlPool): Views => ({
  payments: paymentViews(db),
  refunds: refundViews(db),
  cases: caseViews(db),
  wallet: walletViews(db),
  stats: statsViews(db),
  deliveries: deliveryViews(db),
  endpoints: endpointViews(db),
  keys: keyViews(db),
  accounts: accountViews(db),
  users: userViews(db),
});

/** What they show to be overdue. */
export const overdueWork = (db: Sql): OverdueWork => ({
  payments: (before, page) => overduePayments(db, before, page),
  deliveries: (before, page) => overdueDeliveries(db, before, page),
});
