// Queries on the payments of connections, over all their accounts.
import type { ConnectionId, PaymentId, Tenant } from '../../../domain/kernel/ids.ts';

export interface ConnectionPayment {
  readonly tenant: Tenant;
  readonly paymentId: PaymentId;
  /** The connection that issued it. Another one may list its Pix, too, if both name one Pix key. */
  readonly connectionId: ConnectionId;
}

export interface ConnectionPayments {
  /** Returns the live payments that connections issued with these txids, including all created before the call. Throws ReadModelsBehind. */
  byTxid(txids: readonly string[]): Promise<ReadonlyMap<string, ConnectionPayment>>;
}
