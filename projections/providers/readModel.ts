import { readModel } from '../engine/readModel.ts';
import { providersProjection } from './projection.ts';
import { connectionReads } from './queries.ts';

export const providers = readModel({
  projection: providersProjection,
  operatorsReads: (db) => ({ connections: connectionReads(db) }),
});
