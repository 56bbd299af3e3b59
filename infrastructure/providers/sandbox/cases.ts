// Disputes in the sandbox bank's books. The sandbox routes open and decide them (X2, X4); the gateway reads them through the port.
import type { ProviderCase } from '../../../application/ports/paymentProvider.ts';
import type { Full } from '../../../application/ports/sandboxBank.ts';
import type { Sql } from '../../../application/ports/sql.ts';
import type { BankRuling } from '../../../domain/dispute/decisions.ts';
import type { CaseType, DisputeMethod } from '../../../domain/dispute/medCase.ts';
import type { AccountId, PaymentId, Tenant } from '../../../domain/kernel/ids.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { fromMillis, type Timestamp } from '../../../domain/kernel/time.ts';
import { lockUntilEnd } from './lock.ts';

/** Maximum of cases of one charge, and of rulings of one case. Every ruling adds events to the streams of the case and of its charge. */
const CASES_MAX = 20;
const RULINGS_MAX = 20;

/** Returns the reference of a notification about a case; each report has its own. */
export const caseReference = (providerCaseId: string, report: number): string => `case:${report}:${providerCaseId}`;

/** Books a case. Returns `known` if one with that id exists, or another case of the charge with the same `ordinal` (null: not checked). */
export const bookCase = async (
  tx: Sql,
  { accountId }: Tenant,
  paymentId: PaymentId,
  txid: string,
  ordinal: number | null,
  { providerCaseId, type, amount, method, reason, payer, responseDeadline, openedAt }: Omit<ProviderCase, 'rulings'>,
): Promise<'booked' | 'known' | Full> => {
  await lockUntilEnd(tx, `sandbox cases ${accountId} ${txid}`);
  const { rowCount } = await tx.query(
    `INSERT INTO sandbox_bank.cases (account_id, provider_case_id, payment_id, txid, type, amount, method, reason, payer_name,
       payer_document, response_deadline, opened_at, ordinal)
     SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13
     WHERE (SELECT count(*) FROM sandbox_bank.cases WHERE account_id = $1 AND txid = $4) < ${CASES_MAX} ON CONFLICT DO NOTHING`,
    [
      accountId,
      providerCaseId,
      paymentId,
      txid,
      type,
      amount,
      method,
      reason,
      payer.name,
      payer.document,
      responseDeadline,
      openedAt,
      ordinal,
    ],
  );
  if (rowCount === 1) return 'booked';
  const known = await tx.query(
    'SELECT FROM sandbox_bank.cases WHERE account_id = $1 AND (provider_case_id = $2 OR (txid = $3 AND ordinal = $4)) LIMIT 1',
    [accountId, providerCaseId, txid, ordinal],
  );
  return known.rowCount === 0 ? 'full' : 'known';
};

/** Books a ruling. Returns the number of the report, or null if it is not the `expected` one because another came first. */
export const bookRuling = async (
  tx: Sql,
  { accountId }: Tenant,
  providerCaseId: string,
  { ruling, review, at }: Omit<BankRuling, 'report'>,
  expected: number | null,
): Promise<number | null | Full> => {
  await lockUntilEnd(tx, `sandbox case ${accountId} ${providerCaseId}`);
  const { result, returned, returnedToPayer } =
    ruling === 'withdrawn' ? { result: ruling, returned: true, returnedToPayer: null } : ruling;
  const booked = await tx.query(
    `SELECT FROM sandbox_bank.case_rulings WHERE account_id = $1 AND provider_case_id = $2 LIMIT ${RULINGS_MAX}`,
    [accountId, providerCaseId],
  );
  if (booked.rowCount === RULINGS_MAX) return 'full';
  const { rows } = await tx.query<{ number: number }>(
    `INSERT INTO sandbox_bank.case_rulings (account_id, provider_case_id, number, result, returned, returned_to_payer, review, at)
     SELECT $1, $2, n.number, $3, $4, $5, $6, $7
     FROM (SELECT 2 + count(*)::int AS number FROM sandbox_bank.case_rulings WHERE account_id = $1 AND provider_case_id = $2) n
     WHERE $8::int IS NULL OR n.number = $8
     RETURNING number`,
    [accountId, providerCaseId, result, returned, returnedToPayer, review, at, expected],
  );
  return rows[0]?.number ?? null;
};

export const findCase = async (
  db: Sql,
  { accountId }: Tenant,
  providerCaseId: string,
): Promise<{ readonly paymentId: PaymentId } | null> => {
  const text = 'SELECT payment_id FROM sandbox_bank.cases WHERE account_id = $1 AND provider_case_id = $2';
  const { rows } = await db.query<{ payment_id: PaymentId }>(text, [accountId, providerCaseId]);
  return rows[0] ? { paymentId: rows[0].payment_id } : null;
};

export const casesOutOfTurn = async (db: Sql, { accountId }: Tenant, txid: string): Promise<number> => {
  const text =
    'SELECT count(*)::int AS count FROM sandbox_bank.cases WHERE account_id = $1 AND txid = $2 AND ordinal IS NULL';
  const { rows } = await db.query<{ count: number }>(text, [accountId, txid]);
  return rows[0]?.count ?? 0;
};

export const releaseTurn = async (db: Sql, { accountId }: Tenant, providerCaseId: string): Promise<void> => {
  const text = 'UPDATE sandbox_bank.cases SET ordinal = NULL WHERE account_id = $1 AND provider_case_id = $2';
  await db.query(text, [accountId, providerCaseId]);
};

interface CaseRow {
  provider_case_id: string;
  type: CaseType;
  amount: number | null;
  method: DisputeMethod | null;
  reason: string | null;
  payer_name: string | null;
  payer_document: string | null;
  response_deadline: Timestamp | 'unknown' | null;
  opened_ms: number;
}
interface RulingRow {
  provider_case_id: string;
  number: number;
  result: 'agreed' | 'disagreed' | 'withdrawn';
  returned: boolean;
  returned_to_payer: number | null;
  review: boolean;
  at_ms: number;
}

const rulingOf = ({
  number: report,
  result,
  returned,
  returned_to_payer: got,
  review,
  at_ms,
}: RulingRow): BankRuling => ({
  report,
  ruling: result === 'withdrawn' ? result : { result, returned, returnedToPayer: got === null ? null : toMinor(got) },
  review,
  at: fromMillis(at_ms),
});

export const casesOf = async (db: Sql, account: AccountId, txid: string): Promise<readonly ProviderCase[]> => {
  const { rows } = await db.query<CaseRow>(
    `SELECT provider_case_id, type, amount, method, reason, payer_name, payer_document, response_deadline,
       (extract(epoch FROM opened_at) * 1000)::bigint AS opened_ms
     FROM sandbox_bank.cases WHERE account_id = $1 AND txid = $2 ORDER BY opened_at, provider_case_id`,
    [account, txid],
  );
  const rulings = await db.query<RulingRow>(
    `SELECT provider_case_id, number, result, returned, returned_to_payer, review, (extract(epoch FROM at) * 1000)::bigint AS at_ms
     FROM sandbox_bank.case_rulings WHERE account_id = $1 AND provider_case_id = ANY($2::text[]) ORDER BY number`,
    [account, rows.map((row) => row.provider_case_id)],
  );
  return rows.map((row) => ({
    providerCaseId: row.provider_case_id,
    type: row.type,
    amount: row.amount === null ? null : toMinor(row.amount),
    method: row.method,
    reason: row.reason,
    payer: { name: row.payer_name, document: row.payer_document },
    responseDeadline: row.response_deadline,
    openedAt: fromMillis(row.opened_ms),
    rulings: rulings.rows.filter((one) => one.provider_case_id === row.provider_case_id).map(rulingOf),
  }));
};
