// How much may leave an account by refunds in an hour, and how its sandbox pays them (rules M7b, X3).
import { accountSetting, limitSchema, outside, wholeNumber } from '../kernel/accountSetting.ts';
import { AMOUNT_MAX, type Minor } from '../kernel/money.ts';
import { onSwitch } from '../kernel/sandboxSwitch.ts';
import { integer, money, nullable, record } from '../kernel/serde.ts';

/** Live refunds an hour: how many, and their sum in minor units of each currency; null: any. */
export interface RefundVelocity {
  readonly countPerHour: number | null;
  readonly sumPerHour: Minor | null;
}

const COUNT = [0, 100_000] as const;
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
      sumPerHour: limitSchema(SUM, 'Minor units; null: any.'),
    },
    additionalProperties: false,
    description: 'Live refunds of an hour.',
  },
  problems: ({ countPerHour, sumPerHour }) => [
    ...outside('refundVelocity.countPerHour', countPerHour ?? 0, COUNT),
    ...outside('refundVelocity.sumPerHour', sumPerHour ?? 0, SUM),
  ],
  options: {
    'refund-count': {
      description: 'live refunds an hour of the whole account; any',
      part: 'countPerHour',
      read: wholeNumber(COUNT, { any: null }),
    },
    'refund-sum': {
      description: 'what live refunds of an hour may add up to, in minor units of each currency; any',
      part: 'sumPerHour',
      read: wholeNumber(SUM, { any: null }),
    },
  },
  line: ({ countPerHour, sumPerHour }) => [
    'refunds',
    `${countPerHour ?? 'any'} an hour, of ${sumPerHour ?? 'any'} minor units together`,
  ],
});

export const autoConfirmRefunds = onSwitch(
  { name: 'autoConfirmRefunds', apiName: 'auto_confirm_refunds' },
  'Whether the bank pays refunds by itself.',
);
