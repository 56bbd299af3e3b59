// Every event there is, by category of stream: how readers of the log turn stored data back into facts.
import type { AccountEvent } from './account/account.ts';
import { accountSerde } from './account/serde.ts';
import type { MedCaseEvent } from './dispute/medCase.ts';
import { medCaseSerde } from './dispute/serde.ts';
import type { Category } from './kernel/event.ts';
import type { Serde } from './kernel/serde.ts';
import { type KeyringEvent, keyringSerde } from './keyring/keyring.ts';
import { type LogConsumerEvent, logConsumerSerde } from './logConsumer/logConsumer.ts';
import { type PaymentEvent, paymentSerde } from './payment/payment.ts';
import type { RefundEvent } from './refund/refund.ts';
import { refundSerde } from './refund/serde.ts';
import { userSerde } from './user/serde.ts';
import type { UserEvent } from './user/user.ts';
import { webhookDeliverySerde } from './webhookDelivery/serde.ts';
import type { WebhookDeliveryEvent } from './webhookDelivery/webhookDelivery.ts';
import { type WebhookEndpointEvent, webhookEndpointSerde } from './webhookEndpoint/webhookEndpoint.ts';

export interface EventOf {
  readonly payment: PaymentEvent;
  readonly refund: RefundEvent;
  readonly medCase: MedCaseEvent;
  readonly webhookDelivery: WebhookDeliveryEvent;
  readonly webhookEndpoint: WebhookEndpointEvent;
  readonly keyring: KeyringEvent;
  readonly account: AccountEvent;
  readonly user: UserEvent;
  readonly logConsumer: LogConsumerEvent;
}
export type AnyEvent = EventOf[Category];

export const SERDE: { readonly [C in Category]: Serde<EventOf[C]> } = {
  payment: paymentSerde,
  refund: refundSerde,
  medCase: medCaseSerde,
  webhookDelivery: webhookDeliverySerde,
  webhookEndpoint: webhookEndpointSerde,
  keyring: keyringSerde,
  account: accountSerde,
  user: userSerde,
  logConsumer: logConsumerSerde,
};
