// Every category of streams whose events are published as messages.
import type { Category } from '../../domain/aggregates.ts';
import { PAYMENT } from '../../domain/payment/payment.ts';
import { paymentPublisher } from '../../domain/presentation/messages.ts';
import { type Published, published } from './streamMessages.ts';

export const PUBLISHERS = {
  payment: published(PAYMENT, paymentPublisher),
} satisfies { readonly [C in Category]?: Published };
