import { readModel } from '../engine/readModel.ts';
import { disputesProjection } from './projection.ts';
import { caseReads, caseViews } from './queries.ts';

export const disputes = readModel({
  projection: disputesProjection,
  views: (db) => ({ cases: caseViews(db) }),
  operatorsReads: (db) => ({ cases: caseReads(db) }),
});
