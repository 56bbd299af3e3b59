// The sandbox bank for payouts: accepts an order at once, and pays it at the first status query or when a sandbox route decides (Y6).
import type { Known } from '../../application/ports/paymentProvider.ts';
import type { PayoutOrder, PayoutRail, SandboxPayoutBank } from '../../application/ports/payoutRail.ts';
import type { Sql, SqlPool, SqlTransaction } from '../../application/ports/sql.ts';
import type { AccountId, Tenant } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { PIX_OUT_FEE } from '../../domain/payment/refund.ts';
import type { PayoutOutcome } from '../../domain/payout/decisions.ts';
import type { PayoutId } from '../../domain/payout/payout.ts';
import { networkIdsOf, type OutgoingRow, outcomeOf } from '../providers/sandbox/refunds.ts';

type KnownOutcome = Exclude<PayoutOutcome, { kind: 'unknown' }>;

interface SandboxPayoutNeeds {
  readonly db: SqlPool;
  readonly wait: (ms: number) => Promise<void>;
  /** Whether payouts of the account are confirmed automatically. */
  readonly confirms: (account: AccountId) => Promise<boolean>;
  /** Returns the account's time in test mode. */
  readonly now: (account: AccountId) => Promise<Timestamp>;
}

/** Response time of the simulated `slow` provider. */
const SLOW_MS = 2_000;
/** Pix keys with this ending don't exist. */
const UNKNOWN_KEY = /000$/;

/** Returns why the bank refuses the order at once, or null if it accepts it. */
const refusalOf = ({ destination, metadata }: PayoutOrder): string | null => {
  if (UNKNOWN_KEY.test(destination)) return 'key_not_found';
  return metadata?.['sandbox_provider'] === 'rejected' ? 'The sandbox bank rejected the payout.' : null;
};

export const sandboxPayoutRail = ({ db, wait, confirms, now }: SandboxPayoutNeeds): PayoutRail => ({
  feeOf: () => PIX_OUT_FEE,
  pay: async (order) => {
    const trouble = order.metadata?.['sandbox_provider'];
    if (trouble === 'slow') await wait(SLOW_MS);
    const outcome = await submit(db, order);
    // The bank has the order, but its response is lost.
    return trouble === 'timeout' || trouble === 'unavailable' ? { kind: 'unknown' } : outcome;
  },
  find: async (order): Promise<Known<KnownOutcome | null>> => {
    const { accountId, payoutId } = order;
    if (await confirms(accountId)) await decide(db, accountId, payoutId, null, await now(accountId), false);
    return { kind: 'known', value: await read(db, order) };
  },
});

/** Submits an order and returns its outcome. Idempotent: a known order is not submitted again. */
const submit = async (db: Sql, order: PayoutOrder): Promise<PayoutOutcome> => {
  const { accountId, payoutId, destination, amount } = order;
  const reason = refusalOf(order);
  await db.query(
    `INSERT INTO sandbox_bank.payouts (account_id, payout_id, destination, amount, status, reason)
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
    [accountId, payoutId, destination, amount, reason === null ? 'processing' : 'refused', reason],
  );
  return (await read(db, order)) ?? { kind: 'unknown' };
};

const read = async (db: Sql, { accountId, payoutId }: Pick<PayoutOrder, 'accountId' | 'payoutId'>) => {
  const text =
    'SELECT status, reason, end_to_end_id FROM sandbox_bank.payouts WHERE account_id = $1 AND payout_id = $2';
  const row = (await db.query<OutgoingRow>(text, [accountId, payoutId])).rows[0];
  return row === undefined ? null : outcomeOf(row);
};

/** Decides a payout: `failure` null means paid. With `late`, refused payouts are paid, too. Returns false if nothing changed. */
const decide = async (
  db: Sql,
  account: AccountId,
  payoutId: PayoutId,
  failure: string | null,
  at: Timestamp,
  late: boolean,
): Promise<boolean> => {
  const endToEndId = failure === null ? networkIdsOf(payoutId, at).payment : null;
  const { rowCount } = await db.query(
    `UPDATE sandbox_bank.payouts SET status = CASE WHEN $3::text IS NULL THEN 'confirmed' ELSE 'refused' END, reason = $3, end_to_end_id = $4
     WHERE account_id = $1 AND payout_id = $2 AND (status = 'processing' OR ($5 AND status = 'refused'))`,
    [account, payoutId, failure, endToEndId, late],
  );
  return rowCount === 1;
};

/** Notifies the gateway of a changed payout, within the transaction. */
type OnMoved = (tenant: Tenant, payoutId: PayoutId, tx: SqlTransaction) => Promise<void>;

export const sandboxPayoutBank = (db: SqlPool, onMoved: OnMoved): SandboxPayoutBank => ({
  decide: async (tenant, payoutId, failure, at, late) => {
    const { accountId } = tenant;
    const outcome = await db.transaction(async (tx) => {
      if (await decide(tx, accountId, payoutId, failure, at, late)) await onMoved(tenant, payoutId, tx);
      return read(tx, { accountId, payoutId });
    });
    return outcome === null || outcome.kind === 'processing' ? null : outcome.kind;
  },
});
