// All SQL queries of dispute cases. They are limited to one account and mode, except those for operators and the watchdog.
import { pagesOf } from '../../application/ports/pagesOf.ts';
import type { CaseFilter, CaseReads, CaseViews, WaitingCase } from '../../application/ports/readModels/cases.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { MedCase, MedCaseState } from '../../domain/dispute/medCase.ts';
import { waitsOf } from '../../domain/dispute/waiting.ts';
import type { AccountId, MedCaseId, Mode, PaymentId, Tenant } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';

interface Row {
  readonly state: string;
}
const caseOf = ({ state }: Row): MedCase => JSON.parse(state) as MedCase;

const findOwn = async (db: Sql, { accountId, mode }: Tenant, id: MedCaseId): Promise<MedCase | null> => {
  const { rows } = await db.query<Row>({
    name: 'find_case',
    text: 'SELECT state FROM rm_disputes.cases WHERE id = $1 AND account_id = $2 AND mode = $3 AND created_at IS NOT NULL',
    values: [id, accountId, mode],
  });
  return rows[0] ? caseOf(rows[0]) : null;
};

/** Returns the statement of a page. `after` is the last case of the previous page. */
const listStatement = (
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
    // The first condition lets the index scan start there.
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
    // Selects one more row than requested, to know whether there are more.
    const { text, values } = listStatement(tenant, filter, cursor, limit + 1);
    const { rows } = await db.query<Row>(text, [...values]);
    return { cases: rows.slice(0, limit).map(caseOf), hasMore: rows.length > limit };
  },
  toAnswer: async ({ accountId, mode }, limit) => {
    const { rows } = await db.query<Row>({
      name: 'cases_to_answer',
      text: `SELECT state FROM rm_disputes.cases WHERE account_id = $1 AND mode = $2 AND status = 'open'
        ORDER BY response_deadline, id LIMIT $3`,
      values: [accountId, mode, limit],
    });
    return rows.map(caseOf);
  },
});

/** Account time is real time plus the offset of the account's test clock. */
const CLOCK = `LEFT JOIN operations.test_clocks c ON c.account_id = t.account_id AND t.mode = 'test'`;
const OFFSET = `coalesce(c.offset_seconds, 0) * interval '1 s'`;

const count = async (db: Sql, rest: string): Promise<number> => {
  const { rows } = await db.query<{ count: number }>(
    `SELECT count(*)::bigint AS count FROM rm_disputes.cases t ${rest}`,
  );
  return (rows[0] as { count: number }).count;
};

const dueWithin = (hours: number): string =>
  `${CLOCK} WHERE status = 'open' AND response_deadline < now() + ${OFFSET} + interval '${hours} hours'`;

export const caseReads = (db: Sql): CaseReads => ({
  waiting: async (limit) => {
    const { rows } = await db.query<Row & { readonly id: MedCaseId }>(
      'SELECT id, state FROM rm_disputes.cases WHERE waits_since IS NOT NULL ORDER BY waits_since, id LIMIT $1',
      [limit],
    );
    return rows.map(({ id, state: text }): WaitingCase => {
      const state = JSON.parse(text) as MedCaseState;
      return { id, state, waits: waitsOf(state) };
    });
  },
  countUnderWay: () => count(db, `WHERE status IN ('open', 'appealed')`),
  countPastDeadline: () => count(db, dueWithin(0)),
  countNearDeadline: (hours) => count(db, dueWithin(hours)),
  countForOperators: async (hours) => {
    const { rows } = await db.query<{ waiting: number; near: number }>(
      `SELECT (SELECT count(*)::bigint FROM rm_disputes.cases WHERE waits_since IS NOT NULL) AS waiting,
         (SELECT count(*)::bigint FROM rm_disputes.cases t ${dueWithin(hours)}) AS near`,
    );
    return rows[0] as { waiting: number; near: number };
  },
  nearDeadline: async (hours, limit) => {
    const { rows } = await db.query<Row>(
      `SELECT t.state FROM rm_disputes.cases t ${dueWithin(hours)} ORDER BY t.response_deadline, t.id LIMIT $1`,
      [limit],
    );
    return rows.map(caseOf);
  },
  countWaiting: (because) =>
    because === undefined
      ? count(db, 'WHERE waits_since IS NOT NULL')
      : count(db, `WHERE waits_since IS NOT NULL AND waits_because LIKE '%${because}%'`),
  waitingReports: async (providerCaseId) => {
    const { rows } = await db.query<{ id: MedCaseId }>(
      `SELECT id FROM rm_disputes.cases WHERE waits_since IS NOT NULL AND waits_because LIKE '%report_%' AND provider_case_id = $1`,
      [providerCaseId],
    );
    return rows.map(({ id }) => id);
  },
  countOwedReports: () => count(db, 'WHERE owed_since IS NOT NULL'),
  owedReports: (before, page) => dueCases(db, 'owed_since', before, page),
  // While a test clock is being drained, the drain handles the work that is due by it.
  overdueReminders: (before, page) => dueCases(db, 'remind_at', before, page),
});

interface DueRow {
  readonly id: MedCaseId;
  readonly payment_id: PaymentId;
  readonly account_id: AccountId;
  readonly mode: Mode;
}

/** Yields pages of the cases whose instant in a column came before `before`, by the clock of their account. */
const dueCases = (db: Sql, column: 'owed_since' | 'remind_at', before: Timestamp, page: number) =>
  pagesOf(
    page,
    (last: DueRow | null) =>
      db.query<DueRow>(
        `SELECT t.id, t.payment_id, t.account_id, t.mode FROM rm_disputes.cases t ${CLOCK}
  WHERE t.${column} IS NOT NULL AND t.${column} < $1::timestamptz + ${OFFSET} AND c.draining IS NOT TRUE AND t.id > $2
  ORDER BY t.id LIMIT $3`,
        [before, last?.id ?? '', page],
      ),
    (rows) =>
      rows.map(({ id: caseId, payment_id: paymentId, account_id: accountId, mode }) => ({
        tenant: { accountId, mode },
        caseId,
        paymentId,
      })),
  );
