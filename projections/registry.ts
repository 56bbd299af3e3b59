// Every read model there is, and what all of them show: to routes, commands, processes, operators and the watchdog.
import type { DeletesDeliveries } from '../application/ports/deliveryRetention.ts';
import type { OverdueWork } from '../application/ports/readModels/overdueWork.ts';
import type { CaughtUp } from '../application/ports/readModels/progress.ts';
import type { Sql, SqlPool } from '../application/ports/sql.ts';
import { accountsProjection } from './accounts/projection.ts';
import { accountViews } from './accounts/queries.ts';
import { disputesProjection } from './disputes/projection.ts';
import { caseReads, caseViews } from './disputes/queries.ts';
import { keyringProjection } from './keyring/projection.ts';
import { keyViews } from './keyring/queries.ts';
import { heldPayments } from './payments/held.ts';
import { paymentsProjection } from './payments/projection.ts';
import { overduePayments, paymentReads, paymentViews } from './payments/queries.ts';
import { payoutsProjection } from './payouts/projection.ts';
import { payoutReads, payoutViews } from './payouts/queries.ts';
import { refundsProjection } from './refunds/projection.ts';
import { refundViews } from './refunds/queries.ts';
import { statsViews } from './stats/queries.ts';
import { usersProjection } from './users/projection.ts';
import { userViews } from './users/queries.ts';
import { walletProjection } from './wallet/projection.ts';
import { ledgerReads, walletViews } from './wallet/queries.ts';
import { deadLetterReads } from './webhooks/deadLetters.ts';
import { expiredDeliveries } from './webhooks/expiry.ts';
import { deliveryViews } from './webhooks/lists.ts';
import { webhookDeliveriesProjection, webhookEndpointsProjection } from './webhooks/projection.ts';
import { deliveryReads, endpointReads, endpointViews, overdueDeliveries } from './webhooks/queries.ts';

export const PROJECTIONS = [
  paymentsProjection,
  refundsProjection,
  payoutsProjection,
  disputesProjection,
  walletProjection,
  webhookEndpointsProjection,
  webhookDeliveriesProjection,
  keyringProjection,
  accountsProjection,
  usersProjection,
] as const;

declare module '../application/ports/readModels/progress.ts' {
  interface ReadModels {
    readonly registered: (typeof PROJECTIONS)[number]['name'];
  }
}

export const viewsOf = (db: SqlPool) => ({
  payments: paymentViews(db),
  refunds: refundViews(db),
  payouts: payoutViews(db),
  cases: caseViews(db),
  wallet: walletViews(db),
  stats: statsViews(db),
  deliveries: deliveryViews(db),
  endpoints: endpointViews(db),
  keys: keyViews(db),
  accounts: accountViews(db),
  users: userViews(db),
});

/** What operators' use cases ask. */
export const operatorsReads = (db: SqlPool) => ({
  views: viewsOf(db),
  held: heldPayments(db),
  payouts: payoutReads(db),
  cases: caseReads(db),
  ledger: ledgerReads(db),
  deadLetters: deadLetterReads(db),
});

interface Stores {
  readonly reads: SqlPool;
  /** Its commits do not wait for the disk. */
  readonly derived: SqlPool;
  readonly store: DeletesDeliveries;
}

/** What all use cases and jobs ask. */
export const readsOf = ({ reads, derived, store }: Stores, caughtUp: CaughtUp) => ({
  ...operatorsReads(reads),
  payments: paymentReads(reads, caughtUp),
  endpoints: endpointReads(reads, caughtUp),
  deliveries: deliveryReads(reads),
  overdue: overdueWork(reads),
  expired: expiredDeliveries(derived, store),
});

const overdueWork = (db: Sql): OverdueWork => ({
  payments: (before, page) => overduePayments(db, before, page),
  deliveries: (before, page) => overdueDeliveries(db, before, page),
});
