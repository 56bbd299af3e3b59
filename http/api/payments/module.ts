// The HTTP module for payments: charges, the transaction format and held money.
import { httpModule } from '../../kernel/httpModule.ts';
import { canonicalBody } from '../webhooks/webhookBodies.ts';
import { CHARGES, chargeSchema, PAYMENTS } from './chargeSchema.ts';
import { createChargeRoute, createPixChargeRoute, getChargeRoute, listChargesRoute } from './charges.ts';
import { OPERATOR_HELD_ROUTES } from './operatorHeld.ts';
import {
  cancelPaymentRoute,
  getPaymentRoute,
  getReceiptRoute,
  providerStatusRoute,
  resendWebhookRoute,
} from './payment.ts';
import { createPaymentRoute, listPaymentsRoute } from './payments.ts';
import { SANDBOX_METHOD_ROUTES } from './sandboxMethods.ts';
import { sandboxPayRoute } from './sandboxPay.ts';
import { createdPaymentSchema, transactionSchema } from './transactionSchema.ts';
import { paymentBody } from './webhookBodies.ts';

export const payments = httpModule({
  name: 'payments',
  chapters: [CHARGES, PAYMENTS],
  routes: [
    createChargeRoute,
    createPixChargeRoute,
    getChargeRoute,
    listChargesRoute,
    createPaymentRoute,
    listPaymentsRoute,
    getPaymentRoute,
    cancelPaymentRoute,
    resendWebhookRoute,
    providerStatusRoute,
    getReceiptRoute,
    sandboxPayRoute,
    ...SANDBOX_METHOD_ROUTES,
    ...OPERATOR_HELD_ROUTES,
  ],
  schemas: { Charge: chargeSchema, Payment: transactionSchema, CreatedPayment: createdPaymentSchema },
  webhooks: { charge: canonicalBody(chargeSchema), payment: paymentBody },
});
