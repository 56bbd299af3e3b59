// Every route of the JSON interface.
import type { Route } from '../route.ts';
import { createChargeRoute, createPixChargeRoute, getChargeRoute } from './charges.ts';
import { getPaymentRoute } from './payments.ts';
import { advanceClockRoute, flushDeliveriesRoute, getClockRoute, sandboxPayRoute } from './sandbox.ts';
import { getBalanceRoute, listWalletsRoute } from './wallets.ts';
import {
  deleteEndpointRoute,
  eventCatalogueRoute,
  listDeliveriesRoute,
  listEndpointsRoute,
  registerEndpointRoute,
} from './webhooks.ts';

export const ROUTES: readonly Route[] = [
  createChargeRoute,
  createPixChargeRoute,
  getChargeRoute,
  getPaymentRoute,
  getBalanceRoute,
  listWalletsRoute,
  registerEndpointRoute,
  listEndpointsRoute,
  deleteEndpointRoute,
  listDeliveriesRoute,
  eventCatalogueRoute,
  sandboxPayRoute,
  getClockRoute,
  advanceClockRoute,
  flushDeliveriesRoute,
];
