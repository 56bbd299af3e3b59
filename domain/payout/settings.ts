// Account settings of payouts, and how the sandbox pays them (rules M7b, Y5, Y6).
import { limitSchema, limitSetting, onSwitch, sandboxSwitch } from '../kernel/accountSetting.ts';
import { AMOUNT_MAX, type Minor } from '../kernel/money.ts';
import { integer, money, nullable, record } from '../kernel/serde.ts';

const AMOUNTS = [0, AMOUNT_MAX] as const;

/** Live payouts per hour. */
export const payoutCount = limitSetting({
  name: 'payoutCount',
  shape: integer,
  bounds: [0, 1_000_000],
  unlimited: 'any',
  isOwners: true,
  description: 'Maximum of live payouts per hour; null for no limit.',
  option: ['payout-count', 'maximum of live payouts per hour of the account; `any` for no limit'],
  line: (count, settings) => [
    'payouts',
    `${count ?? 'any number'} per hour, ${payoutSum.of(settings) ?? 'any number of'} minor units in total`,
  ],
});

/** Sum of live payouts per hour, in minor units of each currency. */
export const payoutSum = limitSetting({
  name: 'payoutSum',
  shape: money,
  bounds: AMOUNTS,
  unlimited: 'any',
  isOwners: true,
  description: 'Maximum sum of live payouts per hour, in minor units; null for no limit.',
  option: ['payout-sum', 'maximum sum of live payouts per hour, in minor units of each currency; `any` for no limit'],
});

export const payoutApprovalAbove = limitSetting({
  name: 'payoutApprovalAbove',
  shape: money,
  bounds: AMOUNTS,
  unlimited: 'none',
  isOwners: true,
  description: 'Payouts above this amount require approval by an OWNER or ADMIN; null for none.',
  option: [
    'payout-approval-above',
    'payouts above this amount in minor units require approval; `none` to require no approval',
  ],
  line: (above) => ['payout approval', above === null ? 'none' : `above ${above} minor units`],
});

export const autoConfirmPayouts = onSwitch(
  { name: 'autoConfirmPayouts', apiName: 'auto_confirm_payouts', isUnsaid: true },
  'Whether the sandbox bank pays payouts automatically.',
);

const approvalSchema = (more: string) =>
  limitSchema(AMOUNTS, `Payouts above this amount require approval; null for none.${more}`);

/** Amount above which test payouts require approval (a null `above`: none); null to apply the account's setting to test mode. */
export const sandboxPayoutApproval = sandboxSwitch<{ readonly above: Minor | null } | null>({
  name: 'payoutApproval',
  initial: null,
  shape: nullable(record<{ above: Minor | null }>({ above: nullable(money) })),
  apiName: 'payout_approval_above',
  schema: approvalSchema(' Overrides the account’s `payoutApprovalAbove` for test keys once set.'),
  shownSchema: approvalSchema(' The value set last; null also if never set.'),
  sent: (above) => ({ above }),
  shown: (approval) => approval?.above ?? null,
});
