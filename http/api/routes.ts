// Every route: the JSON interface, the payer's pages, health and metrics.
import { OPERATIONS_ROUTES } from '../kernel/health.ts';
import type { Route } from '../kernel/route.ts';
import { CHECKOUT_ROUTES } from '../site/checkoutRoutes.ts';
import { PASSWORD_ROUTES } from '../site/passwordRoutes.ts';
import { issueApiKeyRoute, listApiKeysRoute, revokeApiKeyRoute, rotateApiKeyRoute } from './access/apiKeys.ts';
import { changePasswordRoute, logInRoute, logOutRoute, requestPasswordResetRoute } from './access/login.ts';
import { SECOND_FACTOR_ROUTES } from './access/secondFactor.ts';
import { changeAccountSettingsRoute, getAccountRoute, removeLogoRoute, uploadLogoRoute } from './accounts/account.ts';
import { MED_CASE_ROUTES } from './disputes/cases.ts';
import { EVIDENCE_ROUTES } from './disputes/evidence.ts';
import { EVIDENCE_FILE_ROUTES } from './disputes/evidenceFiles.ts';
import { OPS_ROUTES } from './ops/routes.ts';
import { createChargeRoute, createPixChargeRoute, getChargeRoute, listChargesRoute } from './payments/charges.ts';
import {
  cancelPaymentRoute,
  getPaymentRoute,
  getReceiptRoute,
  providerStatusRoute,
  resendWebhookRoute,
} from './payments/payment.ts';
import { createPaymentRoute, listPaymentsRoute } from './payments/payments.ts';
import { PAYOUT_ROUTES } from './payouts/payouts.ts';
import { SANDBOX_PAYOUT_ROUTES } from './payouts/sandboxPayouts.ts';
import { listRefundsRoute, refundPaymentRoute } from './refunds/refunds.ts';
import { listRequestLogsRoute } from './requests/requestLogs.ts';
import { advanceClockRoute, flushDeliveriesRoute, getClockRoute, sandboxPayRoute } from './sandbox/sandbox.ts';
import {
  sandboxDecideRoute,
  sandboxMedRoute,
  sandboxRequestEvidenceRoute,
  sandboxReviewRoute,
  sandboxWithdrawRoute,
} from './sandbox/sandboxCases.ts';
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
import { deliveryStatsRoute, getDeliveryRoute, listDeliveriesRoute } from './webhooks/deliveries.ts';
import {
  changeEndpointRoute,
  deleteEndpointRoute,
  listEndpointsRoute,
  pingEndpointRoute,
  registerEndpointRoute,
  rotateSecretRoute,
} from './webhooks/endpoints.ts';
import { redriveDeliveriesRoute, retryDeliveryRoute } from './webhooks/retries.ts';
import { eventCatalogueRoute, rotateOverrideSecretRoute } from './webhooks/webhooks.ts';

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
  ...PAYOUT_ROUTES,
  ...MED_CASE_ROUTES,
  ...EVIDENCE_ROUTES,
  getBalanceRoute,
  listWalletsRoute,
  registerEndpointRoute,
  listEndpointsRoute,
  changeEndpointRoute,
  rotateSecretRoute,
  pingEndpointRoute,
  deleteEndpointRoute,
  listDeliveriesRoute,
  redriveDeliveriesRoute,
  getDeliveryRoute,
  retryDeliveryRoute,
  deliveryStatsRoute,
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
  ...SANDBOX_PAYOUT_ROUTES,
  sandboxMedRoute,
  sandboxRequestEvidenceRoute,
  sandboxDecideRoute,
  sandboxWithdrawRoute,
  sandboxReviewRoute,
  sandboxSettingsRoute,
  getClockRoute,
  advanceClockRoute,
  flushDeliveriesRoute,
  listRequestLogsRoute,
  logInRoute,
  logOutRoute,
  changePasswordRoute,
  ...SECOND_FACTOR_ROUTES,
  issueApiKeyRoute,
  listApiKeysRoute,
  rotateApiKeyRoute,
  revokeApiKeyRoute,
  requestPasswordResetRoute,
  getAccountRoute,
  changeAccountSettingsRoute,
  uploadLogoRoute,
  removeLogoRoute,
  ...OPS_ROUTES,
];

export const ROUTES: readonly Route[] = [
  ...API_ROUTES,
  ...EVIDENCE_FILE_ROUTES,
  ...CHECKOUT_ROUTES,
  ...PASSWORD_ROUTES,
  ...OPERATIONS_ROUTES,
];
