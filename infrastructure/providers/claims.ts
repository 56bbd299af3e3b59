// Claims of received payments: each Pix of a connection belongs to at most one payment.
import type { Sql } from '../../application/ports/sql.ts';
import type { ConnectionId, PaymentId } from '../../domain/kernel/ids.ts';
import type { Log } from '../log/log.ts';

// One statement: under concurrent claims every caller reads the payment that holds it.
const CLAIM = {
  name: 'claim_received_payment',
  text: `INSERT INTO operations.received_claims AS c (connection_id, end_to_end_id, payment_id) VALUES ($1, $2, $3)
    ON CONFLICT (connection_id, end_to_end_id) DO UPDATE SET payment_id = c.payment_id RETURNING c.payment_id`,
};

/** Returns the claims of a connection. A claim returns false if another payment holds the Pix, and logs a warning. */
export const receivedClaims =
  (db: Sql, log: Pick<Log, 'warn'>) =>
  (connectionId: ConnectionId) =>
  async (endToEndId: string, paymentId: PaymentId): Promise<boolean> => {
    const { rows } = await db.query<{ payment_id: PaymentId }>({
      ...CLAIM,
      values: [connectionId, endToEndId, paymentId],
    });
    const holder = rows[0]?.payment_id;
    if (holder === paymentId) return true;
    log.warn(
      { connection: connectionId, endToEndId, payment: paymentId, holder },
      'received Pix belongs to another payment',
    );
    return false;
  };
