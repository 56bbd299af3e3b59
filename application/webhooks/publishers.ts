// Every category of streams whose events are published as messages.
import type { Category } from '../../domain/aggregates.ts';
import { PAYMENT } from '../../domain/payment/payment.ts';
import { PAYOUT } from '../../domain/payout/payout.ts';
import { paymentPublisher } from '../../domain/presentation/messages.ts';
import { payoutPublisher } from '../../domain/presentation/payout.ts';
import { type Published, published } from './streamMessages.ts';

export const PUBLISHERS = {
  payment: published(PAYMENT, paymentPublisher),
  payout: published(PAYOUT, payoutPublisher),
} satisfies { readonly [C in Category]?: Published };
