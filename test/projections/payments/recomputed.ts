// Recomputes statistics and metrics from whole payments, in the slow and simple way (rules T1–T3).
import type { MetricsView } from '../../../domain/presentation/metrics.ts';
import { type TransactionStatus, transactionStatus } from '../../../domain/presentation/status.ts';
import { bucketOf } from '../../../projections/stats/buckets.ts';
import type { MixedPayment } from './mixedPayments.ts';

const METHODS = ['PIX', 'CREDIT_CARD', 'MBWAY', 'MULTIBANCO', 'BOLETO', 'CRYPTO'] as const;
const DAY_MS = 86_400_000;

/** Returns the date in São Paulo, which has kept UTC−3 all year since 2019. */
const dayOf = (at: string): string => new Date(Date.parse(at) - 3 * 3_600_000).toISOString().slice(0, 10);
export const daysUpTo = (today: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) =>
    new Date(Date.parse(today) - (count - 1 - n) * DAY_MS).toISOString().slice(0, 10),
  );

interface Facts {
  readonly createdOn: string;
  readonly amount: number;
  readonly currency: string;
  readonly methods: readonly string[];
  readonly paid: {
    readonly on: string;
    readonly method: string;
    readonly amount: number;
    readonly fees: number;
    readonly seconds: number;
  } | null;
  readonly refunds: readonly { readonly on: string; readonly amount: number; readonly fee: number }[];
  /** Losses by disputes, dated by the operator’s decision on a mismatch, the end of the case, or a return beyond what it took. */
  readonly losses: readonly { readonly on: string; readonly amount: number }[];
  readonly status: TransactionStatus;
  readonly statusOn: string;
}

const factsOf = ({ state, statusSince, events }: MixedPayment): Facts => {
  const { terms } = state.charge;
  const { transaction } = state;
  const settled = transaction.status === 'settled' ? transaction : null;
  const refunds = (settled?.refunds ?? []).flatMap(({ amount, fee, feePaidBy, outcome }) =>
    outcome.status === 'completed' ? [{ on: dayOf(outcome.at), amount, fee: feePaidBy === 'merchant' ? fee : 0 }] : [],
  );
  return {
    createdOn: dayOf(terms.createdAt),
    amount: terms.amount,
    currency: terms.currency,
    methods: terms.methods,
    paid: settled && {
      on: dayOf(settled.settlement.incoming.paidAt),
      method: settled.settlement.method,
      amount: settled.settlement.incoming.amount,
      fees: settled.settlement.providerFee + settled.settlement.platformFee,
      // A bank’s clock may be behind ours, but no payment precedes its charge.
      seconds: bucketOf(
        Math.max(0, Math.round((Date.parse(settled.settlement.incoming.paidAt) - Date.parse(terms.createdAt)) / 1_000)),
      ),
    },
    refunds,
    losses: events.flatMap(({ type, data }) => {
      if (type === 'TransactionDisputeReturnCounted')
        return data.amount < 0 ? [{ on: dayOf(data.at), amount: -data.amount }] : [];
      return (type === 'TransactionDisputeSettled' && data.verdict === 'lost') ||
        (type === 'TransactionDisputeResolved' && data.moneyOutcome !== 'refunded_to_merchant')
        ? [{ on: dayOf(data.at), amount: data.amount }]
        : [];
    }),
    status: transactionStatus(state),
    statusOn: dayOf(statusSince),
  };
};

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
const percent = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.floor((200 * part + whole) / (2 * whole));
const byKey = (entries: readonly (readonly [string, number])[]): Record<string, number> =>
  Object.fromEntries(
    [...new Set(entries.map(([key]) => key))]
      .toSorted()
      .map((key) => [key, sum(entries.filter(([k]) => k === key).map(([, n]) => n))]),
  );

export const recomputedStats = (payments: readonly MixedPayment[], days: readonly string[]) => {
  const all = payments.map(factsOf);
  const created = all.filter(({ createdOn }) => days.includes(createdOn));
  const paidOn = (on: readonly string[]) =>
    all.flatMap(({ paid, currency }) => (paid && on.includes(paid.on) ? [{ ...paid, currency }] : []));
  const volumes = (on: readonly string[]) =>
    byKey(paidOn(on).map(({ currency, amount }) => [currency, amount] as const));
  const today = days.at(-1) as string;
  const paid = paidOn(days);
  return {
    totalTransactions: created.length,
    paidTransactions: created.filter((one) => one.paid).length,
    todayTransactions: created.filter(({ createdOn }) => createdOn === today).length,
    successRate: percent(created.filter((one) => one.paid).length, created.length),
    volumeByCurrency: Object.entries(volumes(days)).map(([currency, volume]) => ({
      currency,
      volume,
      count: paid.filter((one) => one.currency === currency).length,
    })),
    todayVolumeByCurrency: volumes([today]),
    dailyVolume: days.slice(-366).map((date) => ({ date, currencies: volumes([date]) })),
    methodBreakdown: METHODS.flatMap((method) => {
      const own = paid.filter((one) => one.method === method);
      return own.length === 0 ? [] : [{ method, volume: sum(own.map(({ amount }) => amount)), count: own.length }];
    }),
  };
};

const rank = (seconds: readonly number[], share: number): number | null =>
  seconds.toSorted((a, b) => a - b)[Math.ceil(seconds.length * share) - 1] ?? null;

export const recomputedMetrics = (
  payments: readonly MixedPayment[],
  days: readonly string[],
  currency: string | null,
): MetricsView => {
  const all = payments.map(factsOf).filter((one) => currency === null || one.currency === currency);
  const created = all.filter(({ createdOn }) => days.includes(createdOn));
  const paid = all.flatMap((one) =>
    one.paid && days.includes(one.paid.on) ? [{ ...one.paid, currency: one.currency }] : [],
  );
  const refunds = all.flatMap((one) =>
    one.refunds.filter(({ on }) => days.includes(on)).map((refund) => ({ ...refund, currency: one.currency })),
  );
  const losses = all.flatMap((one) =>
    one.losses.filter(({ on }) => days.includes(on)).map((loss) => ({ ...loss, currency: one.currency })),
  );
  const stands = (...statuses: TransactionStatus[]) =>
    all.filter(({ status, statusOn }) => statuses.includes(status) && days.includes(statusOn)).length;
  const currencies = [
    ...new Set(
      [...created, ...paid, ...refunds, ...losses.filter(({ amount }) => amount > 0)].map((one) => one.currency),
    ),
  ].toSorted();
  return {
    days: days.length,
    currency,
    funnel: {
      created: created.length,
      awaitingPayment: stands('WAITING_PAYMENT'),
      processing: stands('PROCESSING'),
      paid: paid.length,
      failed: stands('REFUSED'),
      expired: stands('EXPIRED'),
      cancelled: stands('CANCELLED'),
      refunded: stands('REFUNDED'),
      disputed: stands('CHARGEBACK', 'DISPUTE'),
      conversionRate: percent(created.filter((one) => one.paid).length, created.length),
    },
    volume: currencies.map((of) => {
      const own = paid.filter((one) => one.currency === of);
      const back = refunds.filter((one) => one.currency === of);
      const volume = sum(own.map(({ amount }) => amount));
      const refunded = sum(back.map(({ amount }) => amount));
      const lost = sum(losses.filter((one) => one.currency === of).map(({ amount }) => amount));
      const fees = sum(own.map((one) => one.fees)) + sum(back.map(({ fee }) => fee));
      return {
        currency: of,
        created: sum(created.filter((one) => one.currency === of).map(({ amount }) => amount)),
        paid: volume,
        refunded,
        lost,
        net: volume - refunded - lost - fees,
        fees,
        averageTicket: own.length === 0 ? 0 : Math.floor((2 * volume + own.length) / (2 * own.length)),
      };
    }),
    byMethod: METHODS.flatMap((method) => {
      const named = created.filter(({ methods }) => methods.includes(method));
      const own = paid.filter((one) => one.method === method);
      if (named.length === 0 && own.length === 0) return [];
      const volumes = byKey(own.map((one) => [one.currency, one.amount] as const));
      return [
        {
          method,
          created: named.length,
          paid: own.length,
          conversionRate: percent(named.filter((one) => one.paid?.method === method).length, named.length),
          volume: Object.entries(volumes).map(([of, volume]) => ({ currency: of, volume })),
        },
      ];
    }),
    timeToPay: {
      p50Seconds: rank(
        paid.map(({ seconds }) => seconds),
        0.5,
      ),
      p90Seconds: rank(
        paid.map(({ seconds }) => seconds),
        0.9,
      ),
    },
    daily: days.map((date) => ({
      date,
      created: created.filter(({ createdOn }) => createdOn === date).length,
      paid: paid.filter(({ on }) => on === date).length,
    })),
  };
};
