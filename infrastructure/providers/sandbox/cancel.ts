// Cancels instruments. A cancellation and a payment at the same time are serialized; the later one sees the earlier.
import type { InstrumentRef } from '../../../application/ports/paymentProvider.ts';
import type { Sql, SqlPool } from '../../../application/ports/sql.ts';
import { lockUntilEnd } from './lock.ts';

const keyOf = ({ accountId, txid }: Pick<InstrumentRef, 'accountId' | 'txid'>): string =>
  `sandbox instruments ${accountId} ${txid}`;

/** Lock that a payment holds until it is booked, so that no instrument of the txid is cancelled meanwhile. Earlier changes are visible. */
export const lockForPaying = (tx: Sql, ref: Pick<InstrumentRef, 'accountId' | 'txid'>) =>
  tx.query({
    name: 'sandbox_lock_for_paying',
    text: 'SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))',
    values: [keyOf(ref)],
  });

/** Cancels an instrument, which then accepts no payment. Returns 'paid' and changes nothing if a payment was not returned. */
export const cancelInstrument = (db: SqlPool, ref: InstrumentRef): Promise<'cancelled' | 'paid'> =>
  db.transaction(async (tx) => {
    await lockUntilEnd(tx, keyOf(ref));
    const { rowCount } = await tx.query(
      `INSERT INTO sandbox_bank.instruments (account_id, txid, method, cancelled)
       SELECT $1, $2, $3, true WHERE NOT EXISTS (SELECT FROM sandbox_bank.payments p
         WHERE p.account_id = $1 AND p.txid = $2 AND p.method = $3 AND NOT EXISTS (SELECT FROM sandbox_bank.returns r
           WHERE r.account_id = p.account_id AND r.provider_payment_id = p.provider_payment_id))
       ON CONFLICT (account_id, txid, method) DO UPDATE SET cancelled = true`,
      [ref.accountId, ref.txid, ref.method],
    );
    return rowCount === 1 ? 'cancelled' : 'paid';
  });
