// Every read model there is.
import { accountsProjection } from './accounts/projection.ts';
import { disputesProjection } from './disputes/projection.ts';
import type { Projection } from './engine/projection.ts';
import { keyringProjection } from './keyring/projection.ts';
import { paymentsProjection } from './payments/projection.ts';
import { refundsProjection } from './refunds/projection.ts';
import { usersProjection } from './users/projection.ts';
import { walletProjection } from './wallet/projection.ts';
import { webhookDeliveriesProjection, webhookEndpointsProjection } from './webhooks/projection.ts';

export const PROJECTIONS: readonly Projection[] = [
  paymentsProjection,
  refundsProjection,
  disputesProjection,
  walletProjection,
  webhookEndpointsProjection,
  webhookDeliveriesProjection,
  keyringProjection,
  accountsProjection,
  usersProjection,
];
