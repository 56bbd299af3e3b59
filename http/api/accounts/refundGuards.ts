// The guards on money that leaves by refunds and payouts, which the operator and an OWNER set: how much in an hour, and where to (rules
// M7a, M7b, O3, Y5).
import type { Static } from 'typebox';
import { SETTING_BOUNDS } from '../../../domain/account/settingProblems.ts';
import type { SettingsChange } from '../../../domain/account/settings.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { described, exactly, integer, listOf, optional, orNull, string } from '../../kernel/jsonSchema.ts';
import type { Frozen } from '../../kernel/route.ts';

const B = SETTING_BOUNDS;

/** In the order in which a refusal names them. */
export const OWNERS_SETTINGS = [
  'refundVelocity',
  'payoutCount',
  'payoutSum',
  'payoutApprovalAbove',
  'cashoutDestinations',
] as const;

/** What of a body sets them; `by` ends the description. */
export const refundGuardFields = (by: string) => ({
  refundVelocity: optional(
    described(
      `Live refunds of an hour.${by}`,
      exactly({
        countPerHour: optional(described('null: any.', orNull(integer(...B.refundsPerHour)))),
        sumPerHour: optional(described('Minor units; null: any.', orNull(integer(...B.refundSumPerHour)))),
      }),
    ),
  ),
  payoutCount: optional(described(`Live payouts an hour; null: any.${by}`, orNull(integer(...B.payoutCount)))),
  payoutSum: optional(
    described(`Sum of live payouts an hour, in minor units; null: any.${by}`, orNull(integer(...B.payoutSum))),
  ),
  payoutApprovalAbove: optional(
    described(
      `Payouts of more than this wait until an OWNER or ADMIN approves them; null: none does.${by}`,
      orNull(integer(...B.payoutApprovalAbove)),
    ),
  ),
  cashoutDestinations: optional(
    described(
      `Pix keys, beside the payer’s own document; null: any.${by}`,
      orNull(listOf(string(77), { maxItems: B.cashoutDestinations[1] })),
    ),
  ),
});

const guards = exactly(refundGuardFields(''));
type Sent = Frozen<Static<typeof guards>>;
type Guards = { readonly [Name in keyof Sent]?: Sent[Name] | undefined };

const minorOrNull = (amount: number | null) => (amount === null ? null : toMinor(amount));

/** Only what was sent: the rest stays. A destination named twice is one. */
export const refundGuardChange = ({
  refundVelocity,
  payoutCount,
  payoutSum,
  payoutApprovalAbove,
  cashoutDestinations,
}: Guards): SettingsChange => ({
  ...(payoutCount !== undefined && { payoutCount }),
  ...(payoutSum !== undefined && { payoutSum: minorOrNull(payoutSum) }),
  ...(payoutApprovalAbove !== undefined && { payoutApprovalAbove: minorOrNull(payoutApprovalAbove) }),
  ...(refundVelocity && {
    refundVelocity: {
      ...(refundVelocity.countPerHour !== undefined && { countPerHour: refundVelocity.countPerHour }),
      ...(refundVelocity.sumPerHour !== undefined && {
        sumPerHour: minorOrNull(refundVelocity.sumPerHour),
      }),
    },
  }),
  ...(cashoutDestinations !== undefined && {
    cashoutDestinations: cashoutDestinations && [...new Set(cashoutDestinations)],
  }),
});
