import { readModel } from '../engine/readModel.ts';
import { refundsProjection } from './projection.ts';
import { refundViews } from './queries.ts';

export const refunds = readModel({ projection: refundsProjection, views: (db) => ({ refunds: refundViews(db) }) });
