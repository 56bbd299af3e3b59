// Every read model there is.
import type { Projection } from './engine/projection.ts';
import { keyringProjection } from './keyring/projection.ts';
import { paymentsProjection } from './payments/projection.ts';
import { walletProjection } from './wallet/projection.ts';
import { webhookDeliveriesProjection } from './webhookDeliveries/projection.ts';
import { webhookEndpointsProjection } from './webhookEndpoints/projection.ts';

export const PROJECTIONS: readonly Projection[] = [
  paymentsProjection,
  walletProjection,
  webhookEndpointsProjection,
  webhookDeliveriesProjection,
  keyringProjection,
];
