// What all read models show, over one pool of connections.
import type { Views } from '../application/ports/readModels/views.ts';
import type { SqlPool } from '../application/ports/sql.ts';
import { accountViews } from './accounts/queries.ts';
import { keyViews } from './keyring/queries.ts';
import { paymentViews } from './payments/queries.ts';
import { refundViews } from './refunds/queries.ts';
import { statsViews } from './stats/queries.ts';
import { walletViews } from './wallet/queries.ts';
import { deliveryViews, endpointViews } from './webhooks/queries.ts';

export const viewsOf = (db: SqlPool): Views => ({
  payments: paymentViews(db),
  refunds: refundViews(db),
  wallet: walletViews(db),
  stats: statsViews(db),
  deliveries: deliveryViews(db),
  endpoints: endpointViews(db),
  keys: keyViews(db),
  accounts: accountViews(db),
});
