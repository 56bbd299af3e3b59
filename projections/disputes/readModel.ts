import { readModel } from '../engine/readModel.ts';
import { disputesForAnalysts } from './analysts.ts';
import { disputesProjection } from './projection.ts';
import { caseReads, caseViews } from './queries.ts';

export const disputes = readModel({
  projection: disputesProjection,
  analysts: disputesForAnalysts,
  views: (db) => ({ cases: caseViews(db) }),
  operatorsReads: (db) => ({ cases: caseReads(db) }),
});
