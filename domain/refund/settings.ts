// Account settings that limit refunds per hour, and how the sandbox pays refunds (rules M7b, X3).
import { accountSetting, limitSchema, onSwitch, outside, wholeNumber } from '../kernel/accountSetting.ts';
import { AMOUNT_MAX, type Minor } from '../kernel/money.ts';
import { integer, money, nullable, record } from '../kernel/serde.ts';

/** Limits of live refunds per hour: their number, and their sum in minor units of each currency; null for no limit. */
export interface RefundVelocity {
  readonly countPerHour: number | null;
  readonly sumPerHour: Minor | null;
}

const COUNT = [0, 1_000_000] as const;
const SUM = [0, AMOUNT_MAX] as const;

export const refundVelocity = accountSetting<RefundVelocity>({
  name: 'refundVelocity',
  initial: { countPerHour: null, sumPerHour: null },
  shape: record<RefundVelocity>({ countPerHour: nullable(integer), sumPerHour: nullable(money) }),
  isOwners: true,
  schema: {
    type: 'object',
    properties: {
      countPerHour: limitSchema(COUNT, 'null: any.'),
      sumPerHour: limitSchema(SUM, 'In minor units; null for no limit.'),
    },
    additionalProperties: false,
    description: 'Limits of live refunds per hour.',
  },
  problems: ({ countPerHour, sumPerHour }) => [
    ...outside('refundVelocity.countPerHour', countPerHour ?? 0, COUNT),
    ...outside('refundVelocity.sumPerHour', sumPerHour ?? 0, SUM),
  ],
  options: {
    'refund-count': {
      description: 'maximum of live refunds per hour of the account; `any` for no limit',
      part: 'countPerHour',
      read: wholeNumber(COUNT, { any: null }),
    },
    'refund-sum': {
      description: 'maximum sum of live refunds per hour, in minor units of each currency; `any` for no limit',
      part: 'sumPerHour',
      read: wholeNumber(SUM, { any: null }),
    },
  },
  line: ({ countPerHour, sumPerHour }) => [
    'refunds',
    `${countPerHour ?? 'any number'} per hour, ${sumPerHour ?? 'any number of'} minor units in total`,
  ],
});

export const autoConfirmRefunds = onSwitch(
  { name: 'autoConfirmRefunds', apiName: 'auto_confirm_refunds' },
  'Whether the sandbox bank pays refunds automatically.',
);
