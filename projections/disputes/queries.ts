// Reads of dispute cases: always of one account and mode, but for operators and the watchdog. All SQL about them stands here.
import type { Tenant } from '../../application/ports/paymentProvider.ts';
import type { CaseFilter, CaseReads, CaseViews, WaitingCase } from '../../application/ports/readModels/cases.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { MedCase } from '../../domain/dispute/medCase.ts';
import type { AccountId, MedCaseId, Mode } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';

interface Row {
  readonly state: string;
}
const caseOf = ({ state }: Row): MedCase => JSON.parse(state) as MedCase;

const findOwn = async (db: Sql, { accountId, mode }: Tenant, id: MedCaseId): Promise<MedCase | null> => {
  const { rows } = await db.query<Row>({
    name: 'find_case',
    text: 'SELECT state FROM rm_disputes.cases WHERE id = $1 AND account_id = $2 AND mode = $3',
    values: [id, accountId, mode],
  });
  return rows[0] ? caseOf(rows[0]) : null;
};

/** The statement of a page; `after`: the last case of the page before. */
export const listStatement = (
  { accountId, mode }: Tenant,
  { status, type, chargeId, createdAfter, createdBefore }: CaseFilter,
  after: { readonly id: MedCaseId; readonly createdAt: Timestamp } | null,
  limit: number,
): { readonly text: string; readonly values: readonly unknown[] } => {
  const values: unknown[] = [accountId, mode];
  const of = (value: unknown): string => `$${values.push(value)}`;
  const conditions = ['account_id = $1 AND mode = $2', 'created_at IS NOT NULL'];
  if (status !== undefined) conditions.push(`status = ${of(status)}`);
  if (type !== undefined) conditions.push(`type = ${of(type)}`);
  if (chargeId !== undefined) conditions.push(`payment_id = ${of(chargeId)}`);
  if (createdAfter !== undefined) conditions.push(`created_at > ${of(createdAfter)}`);
  if (createdBefore !== undefined) conditions.push(`created_at < ${of(createdBefore)}`);
  if (after !== null) {
    const [at, id] = [of(after.createdAt), of(after.id)];
    // The first condition lets the index begin there.
    conditions.push(`created_at <= ${at} AND (created_at < ${at} OR id > ${id})`);
  }
  const text = `SELECT state FROM rm_disputes.cases WHERE ${conditions.join(' AND ')} ORDER BY created_at DESC, id LIMIT ${of(limit)}`;
  return { text, values };
};

export const caseViews = (db: Sql): CaseViews => ({
  find: (tenant, id) => findOwn(db, tenant, id),
  list: async (tenant, filter, { after, limit }) => {
    const last = after === null ? null : await findOwn(db, tenant, after);
    if (after !== null && last === null) return null;
    const cursor = last && { id: last.terms.caseId, createdAt: last.createdAt };
    // One more than asked for tells whether there are more.
    const { text, values } = listStatement(tenant, filter, cursor, limit + 1);
    const { rows } = await db.query<Row>(text, [...values]);
    return { cases: rows.slice(0, limit).map(caseOf), hasMore: rows.length > limit };
  },
});

/** Account time is ahead of real time by the offset of the account's test clock. */
const CLOCK = `LEFT JOIN operations.test_clocks c ON c.account_id = t.account_id AND t.mode = 'test'`;
const OFFSET = `coalesce(c.offset_seconds, 0) * interval '1 s'`;

const count = async (db: Sql, rest: string): Promise<number> => {
  const { rows } = await db.query<{ count: number }>(
    `SELECT count(*)::bigint AS count FROM rm_disputes.cases t ${rest}`,
  );
  return (rows[0] as { count: number }).count;
};

export const caseReads = (db: Sql): CaseReads => ({
  waiting: async (limit) => {
    const { rows } = await db.query<Row & { readonly because: WaitingCase['because'] }>(
      `SELECT state, waits_because AS because FROM rm_disputes.cases WHERE waits_because IS NOT NULL
       ORDER BY created_at, id LIMIT $1`,
      [limit],
    );
    return rows.map((row) => ({ medCase: caseOf(row), because: row.because }));
  },
  countUnderWay: () => count(db, `WHERE status IN ('open', 'appealed')`),
  countPastDeadline: () => count(db, `${CLOCK} WHERE status = 'open' AND response_deadline < now() + ${OFFSET}`),
  countWaiting: () => count(db, 'WHERE waits_because IS NOT NULL'),
  overdueReminders: (before, page) => overdueReminders(db, before, page),
});

interface ReminderRow {
  readonly id: MedCaseId;
  readonly account_id: AccountId;
  readonly mode: Mode;
}

/** While a test clock is being drained, what is due by it is left to the drain. */
async function* overdueReminders(db: Sql, before: Timestamp, page: number) {
  for (let after = ''; ; ) {
    const { rows } = await db.query<ReminderRow>(
      `SELECT t.id, t.account_id, t.mode FROM rm_disputes.cases t ${CLOCK}
       WHERE t.remind_at IS NOT NULL AND t.remind_at < $1::timestamptz + ${OFFSET} AND c.draining IS NOT TRUE AND t.id > $2
       ORDER BY t.id LIMIT $3`,
      [before, after, page],
    );
    yield rows.map(({ id: caseId, account_id: accountId, mode }) => ({ tenant: { accountId, mode }, caseId }));
    const last = rows.at(-1);
    if (last === undefined || rows.length < page) return;
    after = last.id;
  }
}
