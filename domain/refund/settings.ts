// How much may leave an account by refunds in an hour, and how its sandbox pays them (rules M7b, X3).
import { accountSetting, limitSchema, outside, wholeNumberOr } from '../kernel/accountSetting.ts';
import { onSwitch } from '../kernel/sandboxSwitch.ts';
import { AMOUNT_MAX, type Minor } from '../kernel/money.ts';
import { isRejection } from '../kernel/rejection.ts';
import { integer, money, nullable, record } from '../kernel/serde.ts';

/** Live refunds an hour: how many, and their sum in minor units of each currency; null: any. */
export interface RefundVelocity {
  readonly countPerHour: number | null;
  readonly sumPerHour: Minor | null;
}

export const REFUNDS_PER_HOUR = [0, 100_000] as const;
export const REFUND_SUM_PER_HOUR = [0, AMOUNT_MAX] as const;

/** Returns what sets one part of the velocity. */
const part = (name: keyof RefundVelocity, bounds: typeof REFUNDS_PER_HOUR | typeof REFUND_SUM_PER_HOUR) => {
  const read = wholeNumberOr({ any: null }, bounds);
  return (text: string) => {
    const limit = read(text);
    return isRejection(limit) ? limit : { [name]: limit };
  };
};

export const refundVelocity = accountSetting<RefundVelocity>({
  name: 'refundVelocity',
  initial: { countPerHour: null, sumPerHour: null },
  shape: record<RefundVelocity>({ countPerHour: nullable(integer), sumPerHour: nullable(money) }),
  isOwners: true,
  schema: {
    type: 'object',
    properties: {
      countPerHour: limitSchema(REFUNDS_PER_HOUR, 'null: any.'),
      sumPerHour: limitSchema(REFUND_SUM_PER_HOUR, 'Minor units; null: any.'),
    },
    additionalProperties: false,
    description: 'Live refunds of an hour.',
  },
  problems: ({ countPerHour, sumPerHour }) => [
    ...outside('refundVelocity.countPerHour', countPerHour ?? 0, REFUNDS_PER_HOUR),
    ...outside('refundVelocity.sumPerHour', sumPerHour ?? 0, REFUND_SUM_PER_HOUR),
  ],
  options: {
    'refund-count': {
      description: 'live refunds an hour of the whole account; any',
      read: part('countPerHour', REFUNDS_PER_HOUR),
    },
    'refund-sum': {
      description: 'what live refunds of an hour may add up to, in minor units of each currency; any',
      read: part('sumPerHour', REFUND_SUM_PER_HOUR),
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
