import { readModel } from '../engine/readModel.ts';
import { personalPayouts } from './personal.ts';
import { payoutsProjection } from './projection.ts';
import { payoutReads, payoutViews } from './queries.ts';

export const payouts = readModel({
  projection: payoutsProjection,
  views: (db) => ({ payouts: payoutViews(db) }),
  operatorsReads: (db) => ({ payouts: payoutReads(db), personalPayouts: personalPayouts(db) }),
});
