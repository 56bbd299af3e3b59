import { AMOUNT_MAX } from '../../../domain/kernel/money.ts';
import {
  accepting,
  anyInteger,
  boolean,
  described,
  exactly,
  integer,
  optional,
  orNull,
  string,
  timestamp,
} from '../../kernel/jsonSchema.ts';

/** How the bank decides on money that leaves: a refund or a payout. */
export const bankPaysBody = accepting({
  late: optional(described('The bank pays it even if it refused it before: operators are alerted.', boolean)),
});
export const bankFailsBody = accepting({ reason: optional(described('The bank’s.', string(500))) });

/** One year (rule X5). */
const ADVANCE_SECONDS_MAX = 31_536_000;
export const advanceBody = accepting({ seconds: integer(1, ADVANCE_SECONDS_MAX, 'How far.') });
export const clockSchema = exactly({
  now: described('Account time.', timestamp),
  offset_seconds: described('How far it is ahead of real time.', anyInteger),
});
export const flushSchema = exactly({ pending: described('Deliveries that are due or held back.', anyInteger) });

/** Requests a minute that a sandbox can be limited to. */
const RATE_LIMIT_MAX = 1_000_000;
const confirms = described('Whether the bank pays refunds by itself.', boolean);
const confirmsPayouts = described('Whether the bank pays payouts by itself.', boolean);
const approvalAbove = (more: string) =>
  described(`Payouts of more than this wait for an approval; null: none does.${more}`, orNull(integer(0, AMOUNT_MAX)));
const notifies = described('Whether disputes lead to webhooks.', boolean);
export const sandboxSettingsBody = accepting({
  auto_confirm_refunds: optional(confirms),
  auto_confirm_payouts: optional(confirmsPayouts),
  payout_approval_above: optional(
    approvalAbove(' Overrides the account’s `payoutApprovalAbove` for test keys once it was sent.'),
  ),
  rate_limit_per_minute: optional(
    integer(0, RATE_LIMIT_MAX, 'Lowers the limit of each test key, never lifts it; 0: as the account has it.'),
  ),
  dispute_notifications: optional(notifies),
});
export const sandboxSettingsSchema = exactly({
  auto_confirm_refunds: confirms,
  auto_confirm_payouts: confirmsPayouts,
  payout_approval_above: approvalAbove(' As it was sent last; null, too, where it was never sent.'),
  rate_limit_per_minute: orNull(integer(0, RATE_LIMIT_MAX, '0 and null: as the account has it.')),
  dispute_notifications: notifies,
});
