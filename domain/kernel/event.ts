// Events, and the one place where stream names are made and read (design.md §4).
import type { AccountId, DeliveryId, EndpointId, MedCaseId, PaymentId, RefundId, UserId } from './ids.ts';

/** A fact. `type` is past tense with the aggregate in its name; `data` is JSON-safe and frozen by convention. */
export interface Fact<Type extends string, Data> {
  readonly type: Type;
  readonly data: Data;
}

export type Category =
  | 'payment'
  | 'refund'
  | 'medCase'
  | 'webhookDelivery'
  | 'webhookEndpoint'
  | 'keyring'
  | 'account'
  | 'user'
  | 'logConsumer';
export const CATEGORIES: readonly Category[] = [
  'payment',
  'refund',
  'medCase',
  'webhookDelivery',
  'webhookEndpoint',
  'keyring',
  'account',
  'user',
  'logConsumer',
];

declare const name: unique symbol;
/**
 * `<category>-<raw id>`, or `logConsumer-<name of a read model or process>`. The category has no `-` in it, so that the first one ends it
 * (EventStoreDB's rule).
 */
export type StreamName = string & { readonly [name]: true };

export const streamName = {
  payment: (id: PaymentId): StreamName => `payment-${id}` as StreamName,
  refund: (id: RefundId): StreamName => `refund-${id}` as StreamName,
  medCase: (id: MedCaseId): StreamName => `medCase-${id}` as StreamName,
  webhookDelivery: (id: DeliveryId): StreamName => `webhookDelivery-${id}` as StreamName,
  webhookEndpoint: (id: EndpointId): StreamName => `webhookEndpoint-${id}` as StreamName,
  keyring: (id: AccountId): StreamName => `keyring-${id}` as StreamName,
  account: (id: AccountId): StreamName => `account-${id}` as StreamName,
  user: (id: UserId): StreamName => `user-${id}` as StreamName,
  logConsumer: (name: string): StreamName => `logConsumer-${name}` as StreamName,
} as const;

export const readStreamName = (stream: string): { category: string; id: string } => {
  const dash = stream.indexOf('-');
  return dash < 0 ? { category: stream, id: '' } : { category: stream.slice(0, dash), id: stream.slice(dash + 1) };
};
