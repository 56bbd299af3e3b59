import { readModel } from '../engine/readModel.ts';
import { oldItems } from './oldItems.ts';
import { providerMovementsProjection } from './projection.ts';
import { movementReads, providerMovements as movementsOf } from './queries.ts';

export const providerMovements = readModel({
  projection: providerMovementsProjection,
  operatorsReads: (db) => ({ movementReads: movementReads(db) }),
  reads: ({ reads, derived }, caughtUp) => ({
    providerMovements: movementsOf(reads, derived, caughtUp),
    oldItems: oldItems(derived, caughtUp),
  }),
});
