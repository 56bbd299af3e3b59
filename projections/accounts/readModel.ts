import { readModel } from '../engine/readModel.ts';
import { accountsProjection } from './projection.ts';
import { accountViews } from './queries.ts';

export const accounts = readModel({
  projection: accountsProjection,
  views: (db) => ({ accounts: accountViews(db) }),
});
