// Payouts in the books of the sandbox bank: taken at once, paid when it is asked for the first time, or decided by the sandbox routes (Y6).
import type { Known, Tenant } from '../../application/ports/paymentProvider.ts';
import type { PayoutOrder, PayoutRail, SandboxPayoutBank } from '../../application/ports/payoutRail.ts';
import type { Sql, SqlPool } from '../../application/ports/sql.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { PIX_OUT_FEE } from '../../domain/payment/refund.ts';
import type { PayoutOutcome } from '../../domain/payout/decisions.ts';
import type { PayoutId } from '../../domain/payout/payout.ts';
import { networkIdsOf, type OutgoingRow, outcomeOf } from '../providers/sandbox/refunds.ts';

type KnownOutcome = Exclude<PayoutOutcome, { kind: 'unknown' }>;

interface SandboxPayoutNeeds {
  readonly db: SqlPool;
  readonly wait: (ms: number) => Promise<void>;
  /** Whether payouts of the account are paid without anybody asking for it. */
  readonly confirms: (account: AccountId) => Promise<boolean>;
  /** Time of the account's test mode. */
  readonly now: (account: AccountId) => Promise<Timestamp>;
}

/** How long `slow` takes to answer. */
const SLOW_MS = 2_000;
/** Keys that end so are in no directory. */
const UNKNOWN_KEY = /000$/;

/** Why the bank refuses the order at once; null: it takes it. */
const refusalOf = ({ destination, metadata }: PayoutOrder): string | null => {
  if (UNKNOWN_KEY.test(destination)) return 'key_not_found';
  return metadata['sandbox_provider'] === 'rejected' ? 'The sandbox bank rejected the payout.' : null;
};

export const sandboxPayoutRail = ({ db, wait, confirms, now }: SandboxPayoutNeeds): PayoutRail => ({
  feeOf: () => PIX_OUT_FEE,
  pay: async (order) => {
    const trouble = order.metadata['sandbox_provider'];
    if (trouble === 'slow') await wait(SLOW_MS);
    const taken = await take(db, order);
    // The bank has the order, and its answer is lost on the way.
    return trouble === 'timeout' || trouble === 'unavailable' ? { kind: 'unknown' } : taken;
  },
  find: async (order): Promise<Known<KnownOutcome | null>> => {
    const { accountId, payoutId } = order;
    if (await confirms(accountId)) await decide(db, accountId, payoutId, null, await now(accountId), false);
    return { kind: 'known', value: await read(db, order) };
  },
});

/** Taken before: what became of it. */
const take = async (db: Sql, order: PayoutOrder): Promise<PayoutOutcome> => {
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

/** `failure` null: paid. Not there, or decided before: false, nothing changes. `late`: pays even what was refused. */
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

/** How the gateway hears of a payout that moved: in the transaction that moved it, and once that is committed. */
interface PayoutNotices {
  readonly moved: (tenant: Tenant, payoutId: PayoutId, tx: Sql) => Promise<void>;
  readonly wake: (tenant: Tenant) => void;
}

export const sandboxPayoutBank = (db: SqlPool, notices: PayoutNotices): SandboxPayoutBank => ({
  decide: async (tenant, payoutId, failure, at, late) => {
    const { accountId } = tenant;
    const outcome = await db.transaction(async (tx) => {
      if (await decide(tx, accountId, payoutId, failure, at, late)) await notices.moved(tenant, payoutId, tx);
      return read(tx, { accountId, payoutId });
    });
    notices.wake(tenant);
    return outcome === null || outcome.kind === 'processing' ? null : outcome.kind;
  },
});
