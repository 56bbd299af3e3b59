// What a read model gives the rest: how it is written, and who reads what of it.
import type { DeletesDeliveries } from '../../application/ports/deliveryRetention.ts';
import type { CaughtUp } from '../../application/ports/readModels/progress.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import type { Projection } from './projection.ts';

export interface ReadStores {
  readonly reads: SqlPool;
  /** Its commits do not wait for the disk. */
  readonly derived: SqlPool;
  readonly store: DeletesDeliveries;
}

export const readModel = <Written extends Projection, Views = object, Operators = object, Reads = object>(declared: {
  readonly projection: Written;
  /** What routes show. */
  readonly views?: (db: SqlPool) => Views;
  /** What use cases ask, those of operators included. */
  readonly operatorsReads?: (db: SqlPool) => Operators;
  /** What only the running program asks. */
  readonly reads?: (stores: ReadStores, caughtUp: CaughtUp) => Reads;
}) => ({
  views: () => ({}) as Views,
  operatorsReads: () => ({}) as Operators,
  reads: () => ({}) as Reads,
  ...declared,
});
