import { readModel } from '../engine/readModel.ts';
import { payoutsForAnalysts } from './analysts.ts';
import { personalPayouts } from './personal.ts';
import { payoutsProjection } from './projection.ts';
import { payoutReads, payoutViews } from './queries.ts';

export const payouts = readModel({
  projection: payoutsProjection,
  analysts: payoutsForAnalysts,
  views: (db) => ({ payouts: payoutViews(db) }),
  operatorsReads: (db) => ({ payouts: payoutReads(db), personalPayouts: personalPayouts(db) }),
});
