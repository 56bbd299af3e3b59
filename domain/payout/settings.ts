// What is agreed with a merchant about payouts, and how its sandbox pays them (rules M7b, Y5, Y6).
import { limitSchema, limitSetting } from '../kernel/accountSetting.ts';
import { AMOUNT_MAX, type Minor } from '../kernel/money.ts';
import { onSwitch, sandboxSwitch } from '../kernel/sandboxSwitch.ts';
import { integer, money, nullable, record } from '../kernel/serde.ts';

const AMOUNTS = [0, AMOUNT_MAX] as const;

/** Live payouts an hour. */
export const payoutCount = limitSetting({
  name: 'payoutCount',
  shape: integer,
  bounds: [0, 100_000],
  unlimited: 'any',
  isOwners: true,
  description: 'Live payouts an hour; null: any.',
  option: ['payout-count', 'live payouts an hour of the whole account; any'],
  line: (count, settings) => [
    'payouts',
    `${count ?? 'any'} an hour, of ${payoutSum.of(settings) ?? 'any'} minor units together`,
  ],
});

/** Sum of live payouts an hour, in minor units of each currency. */
export const payoutSum = limitSetting({
  name: 'payoutSum',
  shape: money,
  bounds: AMOUNTS,
  unlimited: 'any',
  isOwners: true,
  description: 'Sum of live payouts an hour, in minor units; null: any.',
  option: ['payout-sum', 'what live payouts of an hour may add up to, in minor units of each currency; any'],
});

export const payoutApprovalAbove = limitSetting({
  name: 'payoutApprovalAbove',
  shape: money,
  bounds: AMOUNTS,
  unlimited: 'none',
  isOwners: true,
  description: 'Payouts of more than this wait until an OWNER or ADMIN approves them; null: none does.',
  option: ['payout-approval-above', 'payouts of more than so many minor units wait for an approval; none'],
  line: (above) => ['payout approval', above === null ? 'none' : `above ${above} minor units`],
});

export const autoConfirmPayouts = onSwitch(
  { name: 'autoConfirmPayouts', apiName: 'auto_confirm_payouts', isUnsaid: true },
  'Whether the bank pays payouts by itself.',
);

const approvalSchema = (more: string) =>
  limitSchema(AMOUNTS, `Payouts of more than this wait for an approval; null: none does.${more}`);

/** Above which amount test payouts wait for an approval (null: none does); null: the account's own setting rules test mode too. */
export const sandboxPayoutApproval = sandboxSwitch<{ readonly above: Minor | null } | null>({
  name: 'payoutApproval',
  initial: null,
  shape: nullable(record<{ above: Minor | null }>({ above: nullable(money) })),
  apiName: 'payout_approval_above',
  schema: approvalSchema(' Overrides the account’s `payoutApprovalAbove` for test keys once it was sent.'),
  shownSchema: approvalSchema(' As it was sent last; null, too, where it was never sent.'),
  sent: (above) => ({ above }),
  shown: (approval) => approval?.above ?? null,
});
