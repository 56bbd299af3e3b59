// Claims of received payments: each Pix of a connection belongs to at most one payment.
import type { Sql } from '../../application/ports/sql.ts';
import type { ConnectionId, PaymentId } from '../../domain/kernel/ids.ts';
import type { Log } from '../log/log.ts';

export interface Claim {
  readonly connectionId: ConnectionId;
  readonly endToEndId: string;
  readonly paymentId: PaymentId;
}

// One statement: under concurrent claims every caller reads the payment that holds it. An inserted row has no xmax, an updated one has.
const CLAIM = {
  name: 'claim_received_payment',
  text: `INSERT INTO operations.received_claims AS c (connection_id, end_to_end_id, payment_id) VALUES ($1, $2, $3)
    ON CONFLICT (connection_id, end_to_end_id) DO UPDATE SET payment_id = c.payment_id
    RETURNING c.payment_id AS holder, c.xmax = 0 AS "isNew"`,
};

/** Claims a Pix for a payment, unless another one holds it. Returns the holder, and whether the claim is new. */
export const claim = async (
  db: Sql,
  { connectionId, endToEndId, paymentId }: Claim,
): Promise<{ readonly holder: PaymentId; readonly isNew: boolean }> => {
  const values = [connectionId, endToEndId, paymentId];
  const { rows } = await db.query<{ holder: PaymentId; isNew: boolean }>({ ...CLAIM, values });
  return rows[0] as (typeof rows)[number];
};

/** Returns the claims of a connection. A claim returns false if another payment holds the Pix, and logs a warning. */
export const receivedClaims =
  (db: Sql, log: Pick<Log, 'warn'>) =>
  (connectionId: ConnectionId) =>
  async (endToEndId: string, paymentId: PaymentId): Promise<boolean> => {
    const { holder } = await claim(db, { connectionId, endToEndId, paymentId });
    if (holder === paymentId) return true;
    log.warn(
      { connection: connectionId, endToEndId, payment: paymentId, holder },
      'received Pix belongs to another payment',
    );
    return false;
  };
