// Payments of connections by txid, over all accounts: callbacks name no account.
import type { ConnectionPayments } from '../../application/ports/readModels/connectionPayments.ts';
import { type CaughtUp, ReadModelsBehind } from '../../application/ports/readModels/progress.ts';
import { type Sql, TextArray } from '../../application/ports/sql.ts';
import { isTxid } from '../../domain/pix/ids.ts';
import type { ColumnValues } from '../engine/aggregateTable.ts';
import { paymentOf, selectPayment } from './row.ts';

/** Longest wait of a lookup, in milliseconds. If exceeded, the job is retried. */
const FOUND_MS = 10_000;

// One index lookup per txid. A join would be planned as a scan of the table.
const BY_TXID = {
  name: 'find_live_payments_by_txid',
  text: `SELECT found.* FROM unnest($1::text[]) AS wanted(txid)
    CROSS JOIN LATERAL (
      SELECT ${selectPayment('p')} FROM rm_payments.payments p WHERE p.txid = wanted.txid AND p.mode = 'live' OFFSET 0
    ) found`,
};

export const connectionPayments = (db: Sql, caughtUp: CaughtUp): ConnectionPayments => ({
  byTxid: async (txids) => {
    const valid = [...new Set(txids.filter(isTxid))];
    if (valid.length === 0) return new Map();
    if (!(await caughtUp('payments', FOUND_MS)).isCaughtUp)
      throw new ReadModelsBehind('payments of a connection could not be searched by txid');
    const { rows } = await db.query<ColumnValues>({ ...BY_TXID, values: [new TextArray(valid)] });
    return new Map(
      rows.flatMap((row) => {
        const { txid, accountId, mode, paymentId, connectionId } = paymentOf(row).charge.terms;
        return connectionId === null ? [] : [[txid, { tenant: { accountId, mode }, paymentId, connectionId }]];
      }),
    );
  },
});
