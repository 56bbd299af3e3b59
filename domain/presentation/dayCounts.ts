// What is counted of each civil day: the only source of statistics and metrics (rules T1–T3).
import type { PaymentMethod } from '../charge/methods.ts';
import type { TransactionStatus } from './status.ts';

/** Where payments stand that are neither being created nor settled. */
export type FunnelStage =
  | 'awaitingPayment'
  | 'processing'
  | 'failed'
  | 'expired'
  | 'cancelled'
  | 'refunded'
  | 'disputed';

/** Payments, and sums of minor units where the name says amount or fees. */
interface DayCounts {
  /** By the day of creation. */
  readonly created: number;
  readonly createdAmount: number;
  /** Of those created on this day: ever settled. */
  readonly createdPaid: number;
  /** By the day of `paidAt`. */
  readonly paid: number;
  readonly paidAmount: number;
  /** Of settlements by the day of `paidAt`, of Pix-outs that the merchant pays for by the day of their completion. */
  readonly fees: number;
  /** Refunds completed on this day. */
  readonly refundedAmount: number;
  /** What disputes took on this day. */
  readonly lostAmount: number;
  /** Present status, by the day on which it was reached. */
  readonly stages: { readonly [Stage in FunnelStage]: number };
}

/** One day and currency: of all payments (`method` null), or of one method, where only the counts that have a method are filled. */
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
