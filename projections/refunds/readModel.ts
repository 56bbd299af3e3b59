import { readModel } from '../engine/readModel.ts';
import { refundsForAnalysts } from './analysts.ts';
import { refundsProjection } from './projection.ts';
import { refundViews } from './queries.ts';

export const refunds = readModel({
  projection: refundsProjection,
  analysts: refundsForAnalysts,
  views: (db) => ({ refunds: refundViews(db) }),
});
