// Every process manager there is.

import type { ProcessManager } from '../../application/ports/processManager.ts';
import { cancellation } from '../../application/processes/cancellation.ts';
import { creation } from '../../application/processes/creation.ts';
import { expiry } from '../../application/processes/expiry.ts';
import { fundsRelease } from '../../application/processes/fundsRelease.ts';
import { payerLockReturn } from '../../application/processes/payerLockReturn.ts';
import { refundExecution } from '../../application/processes/refundExecution.ts';
import { testClock } from '../../application/processes/testClock.ts';
import { webhookDelivery } from '../../application/processes/webhookDelivery.ts';
import { webhookFanOut } from '../../application/processes/webhookFanOut.ts';

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
