// The list of all read models, and their combined reads for routes, commands, processes, operators and the watchdog.
import { joined } from '../application/ports/joined.ts';
import type { CaughtUp } from '../application/ports/readModels/progress.ts';
import type { SqlPool } from '../application/ports/sql.ts';
import { accounts } from './accounts/readModel.ts';
import { createViews } from './analytics/view.ts';
import { dailyBalances } from './dailyBalances/readModel.ts';
import { disputes } from './disputes/readModel.ts';
import type { ReadStores } from './engine/readModel.ts';
import { keyring } from './keyring/readModel.ts';
import { payments } from './payments/readModel.ts';
import { payouts } from './payouts/readModel.ts';
import { providerMovements } from './providerMovements/readModel.ts';
import { providers } from './providers/readModel.ts';
import { refunds } from './refunds/readModel.ts';
import { users } from './users/readModel.ts';
import { wallet } from './wallet/readModel.ts';
import { webhookDeliveries, webhookEndpoints } from './webhooks/readModel.ts';

const READ_MODELS = [
  payments,
  refunds,
  payouts,
  providerMovements,
  disputes,
  wallet,
  dailyBalances,
  webhookEndpoints,
  webhookDeliveries,
  keyring,
  accounts,
  users,
  providers,
] as const;
type ReadModel = (typeof READ_MODELS)[number];

export const PROJECTIONS = READ_MODELS.map(({ projection, analysts }) =>
  analysts.length === 0 ? projection : { ...projection, published: createViews(analysts) },
);

/** Views for analysts, in the order of their documents. */
export const ANALYST_VIEWS = READ_MODELS.flatMap(({ analysts }) => analysts);

declare module '../application/ports/readModels/progress.ts' {
  interface ReadModels {
    readonly registered: ReadModel['projection']['name'];
  }
}

export const viewsOf = (db: SqlPool) =>
  joined<ReturnType<ReadModel['views']>>(
    'read models have a view',
    READ_MODELS.map(({ views }) => views(db)),
  );

/** Reads for operators' use cases. */
export const operatorsReads = (db: SqlPool) => ({
  views: viewsOf(db),
  ...joined<ReturnType<ReadModel['operatorsReads']>>(
    'read models answer operators by one',
    READ_MODELS.map((one) => one.operatorsReads(db)),
  ),
});

/** Reads for all use cases and jobs. */
export const readsOf = (stores: ReadStores, caughtUp: CaughtUp) => ({
  ...operatorsReads(stores.reads),
  ...joined<ReturnType<ReadModel['reads']>>(
    'read models answer by one',
    READ_MODELS.map(({ reads }) => reads(stores, caughtUp)),
  ),
});
