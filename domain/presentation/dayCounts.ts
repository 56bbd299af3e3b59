// Counts per civil day, the only source of statistics and metrics (rules T1–T3).
import type { PaymentMethod } from '../charge/methods.ts';
import type { TransactionStatus } from './status.ts';

/** Stages of payments that are neither being created nor settled. */
export type FunnelStage =
  | 'awaitingPayment'
  | 'processing'
  | 'failed'
  | 'expired'
  | 'cancelled'
  | 'refunded'
  | 'disputed';

/** Numbers of payments; sums in minor units where the name says amount or fees. */
interface DayCounts {
  /** By day of creation. */
  readonly created: number;
  readonly createdAmount: number;
  /** Payments created on this day that were ever settled. */
  readonly createdPaid: number;
  /** By day of `paidAt`. */
  readonly paid: number;
  readonly paidAmount: number;
  /** Fees of settlements by day of `paidAt`, and of Pix-outs that the merchant pays for by day of completion. */
  readonly fees: number;
  /** Refunds completed on this day. */
  readonly refundedAmount: number;
  /** Amount lost in disputes on this day. */
  readonly lostAmount: number;
  /** Present status, by the day on which it was reached. */
  readonly stages: { readonly [Stage in FunnelStage]: number };
}

/** Counts of one day and currency. `method` is null for all payments; rows of one method fill only the counts that have a method. */
export interface DayRow extends DayCounts {
  /** `yyyy-mm-dd`. */
  readonly day: string;
  readonly currency: string;
  readonly method: PaymentMethod | null;
}

const STAGE_OF: { readonly [Status in TransactionStatus]: FunnelStage | null } = {
  PENDING: null,
  WAITING_PAYMENT: 'awaitingPayment',
  PROCESSING: 'processing',
  PAID: null,
  APPROVED: null,
  REFUSED: 'failed',
  CANCELLED: 'cancelled',
  EXPIRED: 'expired',
  REFUNDED: 'refunded',
  CHARGEBACK: 'disputed',
  DISPUTE: 'disputed',
};
export const stageOf = (status: TransactionStatus): FunnelStage | null => STAGE_OF[status];

/** Sums one count over the rows. */
export const sumBy = (rows: readonly DayRow[], count: Exclude<keyof DayCounts, 'stages'>): number =>
  rows.reduce((sum, row) => sum + row[count], 0);

export const sumStage = (rows: readonly DayRow[], stage: FunnelStage): number =>
  rows.reduce((sum, { stages }) => sum + stages[stage], 0);
