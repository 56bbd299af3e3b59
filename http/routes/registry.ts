// Every route of the JSON interface.
import type { Route } from '../route.ts';
import { listChargesRoute } from './chargeList.ts';
import { createChargeRoute, createPixChargeRoute, getChargeRoute } from './charges.ts';
import { createPaymentRoute } from './createPayment.ts';
import { rotateOverrideSecretRoute } from './overrideSecret.ts';
import { cancelPaymentRoute, providerStatusRoute, resendWebhookRoute } from './paymentActions.ts';
import { listPaymentsRoute } from './paymentList.ts';
import { getPaymentRoute } from './payments.ts';
import { getReceiptRoute } from './receipt.ts';
import { listRefundsRoute, refundPaymentRoute } from './refunds.ts';
import { advanceClockRoute, flushDeliveriesRoute, getClockRoute, sandboxPayRoute } from './sandbox.ts';
import {
  sandboxAuthorizeRoute,
  sandboxChargebackRoute,
  sandboxDisputeRoute,
  sandboxProcessingRoute,
  sandboxRefuseRoute,
} from './sandboxMethods.ts';
import { confirmRefundRoute, failRefundRoute } from './sandboxRefunds.ts';
import { sandboxSettingsRoute } from './sandboxSettings.ts';
import { paymentMetricsRoute, paymentStatsRoute } from './stats.ts';
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
