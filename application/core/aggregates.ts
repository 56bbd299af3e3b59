// The aggregates, as the command handler takes them.
import { account } from '../../domain/account/account.ts';
import { medCase } from '../../domain/dispute/medCase.ts';
import { keyring } from '../../domain/keyring/keyring.ts';
import { logConsumer } from '../../domain/logConsumer/logConsumer.ts';
import { payment } from '../../domain/payment/payment.ts';
import { refund } from '../../domain/refund/refund.ts';
import { user } from '../../domain/user/user.ts';
import { webhookDelivery } from '../../domain/webhookDelivery/webhookDelivery.ts';
import { webhookEndpoint } from '../../domain/webhookEndpoint/webhookEndpoint.ts';

export const PAYMENT = { category: 'payment', decider: payment } as const;
export const REFUND = { category: 'refund', decider: refund } as const;
export const MED_CASE = { category: 'medCase', decider: medCase } as const;
export const WEBHOOK_DELIVERY = { category: 'webhookDelivery', decider: webhookDelivery } as const;
export const WEBHOOK_ENDPOINT = { category: 'webhookEndpoint', decider: webhookEndpoint } as const;
export const KEYRING = { category: 'keyring', decider: keyring } as const;
export const ACCOUNT = { category: 'account', decider: account } as const;
export const USER = { category: 'user', decider: user } as const;
export const LOG_CONSUMER = { category: 'logConsumer', decider: logConsumer } as const;
