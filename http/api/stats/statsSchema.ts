// Responses of statistics and metrics (contract.md Stats, rule T3).
import { PAYMENT_METHODS } from '../../../domain/charge/methods.ts';
import { anyInteger, anyObject, exactly, listOf, orNull, string } from '../../kernel/jsonSchema.ts';

const currency = string(8);
const method = { type: 'string', enum: PAYMENT_METHODS } as const;
const date = { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\d$' } as const;
const percent = { type: 'integer', minimum: 0, maximum: 100 } as const;
/** Currency → volume. */
const volumes = anyObject;

export const statsSchema = exactly({
  totalTransactions: anyInteger,
  paidTransactions: anyInteger,
  todayTransactions: anyInteger,
  successRate: percent,
  volumeByCurrency: listOf(exactly({ currency, volume: anyInteger, count: anyInteger })),
  todayVolumeByCurrency: volumes,
  dailyVolume: listOf(exactly({ date, currencies: volumes })),
  methodBreakdown: listOf(exactly({ method, volume: anyInteger, count: anyInteger })),
});

export const metricsSchema = exactly({
  days: anyInteger,
  currency: orNull(currency),
  funnel: exactly({
    created: anyInteger,
    awaitingPayment: anyInteger,
    processing: anyInteger,
    paid: anyInteger,
    failed: anyInteger,
    expired: anyInteger,
    cancelled: anyInteger,
    refunded: anyInteger,
    disputed: anyInteger,
    conversionRate: percent,
  }),
  volume: listOf(
    exactly({
      currency,
      created: anyInteger,
      paid: anyInteger,
      refunded: anyInteger,
      net: anyInteger,
      fees: anyInteger,
      averageTicket: anyInteger,
    }),
  ),
  byMethod: listOf(
    exactly({
      method,
      created: anyInteger,
      paid: anyInteger,
      conversionRate: percent,
      volume: listOf(exactly({ currency, volume: anyInteger })),
    }),
  ),
  timeToPay: exactly({ p50Seconds: orNull(anyInteger), p90Seconds: orNull(anyInteger) }),
  daily: listOf(exactly({ date, created: anyInteger, paid: anyInteger })),
});
