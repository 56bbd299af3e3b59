// Request and response of the refund routes, and of how the sandbox decides them (contract.md Refund, rule X3).
import { REFUND_STATUSES } from '../../../domain/presentation/refund.ts';
import {
  accepting,
  anyInteger,
  boolean,
  exactly,
  id,
  idempotencyKey,
  integer,
  listOf,
  orNull,
  string,
  timestamp,
} from '../../kernel/jsonSchema.ts';

export const refundBody = accepting(
  {
    idempotencyKey,
    amount: integer(1, Number.MAX_SAFE_INTEGER, 'Smallest unit. Left out: all that is left of the payment.'),
    reason: string(500),
    strategy: { type: 'string', enum: ['devolution', 'cashout'], description: 'PIX only. Default cashout.' },
    passFeeToTenant: boolean,
    destinationKey: string(77, { description: 'PIX by cashout only: a Pix key, instead of the payer’s document.' }),
  },
  ['idempotencyKey'],
);

export const refundSchema = exactly({
  id: id('rf_'),
  transactionId: id('tx_'),
  amount: anyInteger,
  currency: string(8),
  status: { type: 'string', enum: REFUND_STATUSES },
  reason: { ...orNull(string()), description: 'The merchant’s own.' },
  failureReason: { ...orNull(string()), description: 'Why it could not be paid back; null until FAILED.' },
  createdAt: timestamp,
});
export const refundsSchema = exactly({ data: listOf(refundSchema) });

export const confirmRefundBody = accepting({});
export const failRefundBody = accepting({ reason: string(500) });

/** Requests a minute that a sandbox can be limited to. */
const RATE_LIMIT_MAX = 1_000_000;
export const sandboxSettingsBody = accepting({
  auto_confirm_refunds: boolean,
  rate_limit_per_minute: integer(
    0,
    RATE_LIMIT_MAX,
    'Lowers the limit of each test key, never lifts it; 0: as the account has it.',
  ),
  dispute_notifications: boolean,
});
export const sandboxSettingsSchema = exactly({
  auto_confirm_refunds: boolean,
  rate_limit_per_minute: {
    ...orNull(integer(0, RATE_LIMIT_MAX)),
    description: '0 and null: as the account has it.',
  },
  dispute_notifications: boolean,
});
