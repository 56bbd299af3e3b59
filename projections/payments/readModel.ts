import type { Timestamp } from '../../domain/kernel/time.ts';
import { readModel } from '../engine/readModel.ts';
import { statsViews } from '../stats/queries.ts';
import { paymentsForAnalysts } from './analysts.ts';
import { heldPayments } from './held.ts';
import { connectionPayments } from './ofConnection.ts';
import { personalPayments } from './personal.ts';
import { paymentsProjection } from './projection.ts';
import { overduePayments, paymentReads, paymentViews } from './queries.ts';

export const payments = readModel({
  projection: paymentsProjection,
  analysts: paymentsForAnalysts,
  views: (db) => ({ payments: paymentViews(db), stats: statsViews(db) }),
  operatorsReads: (db) => ({
    held: heldPayments(db),
    personalPayments: personalPayments(db),
    overduePayments: (before: Timestamp, page: number) => overduePayments(db, before, page),
  }),
  reads: ({ reads }, caughtUp) => ({
    payments: paymentReads(reads, caughtUp),
    connectionPayments: connectionPayments(reads, caughtUp),
  }),
});
