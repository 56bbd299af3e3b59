// Every process manager there is.

import { cancellation } from '../../application/payments/cancellation.ts';
import { expiry } from '../../application/payments/expiry.ts';
import { fundsRelease } from '../../application/payments/fundsRelease.ts';
import { creation } from '../../application/payments/issueInstruments.ts';
import { payerLockReturn } from '../../application/payments/rejectedPaymentReturn.ts';
import type { ProcessManager } from '../../application/ports/processManager.ts';
import { refundExecution } from '../../application/refunds/refundExecution.ts';
import { testClock } from '../../application/sandbox/testClock.ts';
import { webhookDelivery } from '../../application/webhooks/webhookDelivery.ts';
import { webhookFanOut } from '../../application/webhooks/webhookFanOut.ts';

export const PROCESSES: readonly ProcessManager[] = [
  creation,
  expiry,
  fundsRelease,
  payerLockReturn,
  cancellation,
  refundExecution,
  webhookFanOut,
  webhookDelivery,
  testClock,
];
/** The one whose reactions decide on the set of endpoints. */
export const KEEPS_ENDPOINTS = webhookFanOut.name;

/** Webhooks and the sandbox's clock. What all others would have done moves money, or is what others read of it. */
const WITHOUT_MONEY: readonly ProcessManager[] = [webhookFanOut, webhookDelivery, testClock];

/** Whether an event may be passed over for this follower of the log without its being named twice. */
export const maySkip = (consumer: string): boolean => WITHOUT_MONEY.some(({ name }) => consumer === `process/${name}`);
