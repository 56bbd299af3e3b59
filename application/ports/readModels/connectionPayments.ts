// Queries on the payments of a connection, over all its accounts.
import type { ConnectionId, PaymentId, Tenant } from '../../../domain/kernel/ids.ts';

export interface ConnectionPayment {
  readonly tenant: Tenant;
  readonly paymentId: PaymentId;
}

export interface ConnectionPayments {
  /**
   * Returns the live payments that the connection issued with these txids, including all created before the call. Throws ReadModelsBehind.
   */
  byTxid(connectionId: ConnectionId, txids: readonly string[]): Promise<ReadonlyMap<string, ConnectionPayment>>;
}
