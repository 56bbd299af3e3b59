// The interface of a read model: its writer, and its reads for each kind of reader.
import type { DeletesDeliveries } from '../../application/ports/deliveryRetention.ts';
import type { CaughtUp } from '../../application/ports/readModels/progress.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import type { AnalystView } from '../analytics/view.ts';
import type { Projection } from './projection.ts';

export interface ReadStores {
  readonly reads: SqlPool;
  /** Pool whose commits don't wait for the disk. */
  readonly derived: SqlPool;
  readonly store: DeletesDeliveries;
}

export const readModel = <Written extends Projection, Views = object, Operators = object, Reads = object>(declared: {
  readonly projection: Written;
  /** Views for analysts. */
  readonly analysts?: readonly AnalystView[];
  /** Reads for routes. */
  readonly views?: (db: SqlPool) => Views;
  /** Reads for use cases, including those of operators. */
  readonly operatorsReads?: (db: SqlPool) => Operators;
  /** Reads for the running program only. */
  readonly reads?: (stores: ReadStores, caughtUp: CaughtUp) => Reads;
}) => ({
  analysts: [] as readonly AnalystView[],
  views: () => ({}) as Views,
  operatorsReads: () => ({}) as Operators,
  reads: () => ({}) as Reads,
  ...declared,
});
