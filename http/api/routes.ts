// Every route: the JSON interface, the payer's pages, health and metrics.
import { OPERATIONS_ROUTES } from '../kernel/health.ts';
import type { Route } from '../kernel/route.ts';
import { CHECKOUT_ROUTES } from '../site/checkoutRoutes.ts';
import { createChargeRoute, createPixChargeRoute, getChargeRoute, listChargesRoute } from './payments/charges.ts';
import {
  cancelPaymentRoute,
  getPaymentRoute,
  getReceiptRoute,
  providerStatusRoute,
  resendWebhookRoute,
} from './payments/payment.ts';
import { createPaymentRoute, listPaymentsRoute } from './payments/payments.ts';
import { listRefundsRoute, refundPaymentRoute } from './refunds/refunds.ts';
import { advanceClockRoute, flushDeliveriesRoute, getClockRoute, sandboxPayRoute } from './sandbox/sandbox.ts';
import {
  sandboxAuthorizeRoute,
  sandboxChargebackRoute,
  sandboxDisputeRoute,
  sandboxProcessingRoute,
  sandboxRefuseRoute,
} from './sandbox/sandboxMethods.ts';
import { confirmRefundRoute, failRefundRoute } from './sandbox/sandboxRefunds.ts';
import { sandboxSettingsRoute } from './sandbox/sandboxSettings.ts';
import { paymentMetricsRoute, paymentStatsRoute } from './stats/stats.ts';
import { getBalanceRoute, listWalletsRoute } from './wallets/wallets.ts';
import {
  deleteEndpointRoute,
  eventCatalogueRoute,
  listDeliveriesRoute,
  listEndpointsRoute,
  registerEndpointRoute,
  rotateOverrideSecretRoute,
} from './webhooks/webhooks.ts';

/** The JSON interface. */
export const API_ROUTES: readonly Route[] = [
  createChargeRoute,
  createPixChargeRoute,
  getChargeRoute,
  listChargesRoute,
  createPaymentRoute,
  listPaymentsRoute,
  // Before the route whose {id} they would be.
  paymentStatsRoute,
  paymentMetricsRoute,
  getPaymentRoute,
  refundPaymentRoute,
  listRefundsRoute,
  cancelPaymentRoute,
  resendWebhookRoute,
  providerStatusRoute,
  getReceiptRoute,
  getBalanceRoute,
  listWalletsRoute,
  registerEndpointRoute,
  listEndpointsRoute,
  deleteEndpointRoute,
  listDeliveriesRoute,
  rotateOverrideSecretRoute,
  eventCatalogueRoute,
  sandboxPayRoute,
  sandboxAuthorizeRoute,
  sandboxRefuseRoute,
  sandboxProcessingRoute,
  sandboxChargebackRoute,
  sandboxDisputeRoute,
  confirmRefundRoute,
  failRefundRoute,
  sandboxSettingsRoute,
  getClockRoute,
  advanceClockRoute,
  flushDeliveriesRoute,
];

export const ROUTES: readonly Route[] = [...API_ROUTES, ...CHECKOUT_ROUTES, ...OPERATIONS_ROUTES];
