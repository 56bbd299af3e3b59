// Queries of dispute cases: pages of one tenant’s cases, and the cases of all tenants that operators and the watchdog look at.

import { expect } from 'chai';
import type { CaseFilter } from '../../../application/ports/readModels/cases.ts';
import type { CaseStatus, MedCaseEvent } from '../../../domain/dispute/medCase.ts';
import { type CaseWaitsBecause, waitsOf } from '../../../domain/dispute/waiting.ts';
import type { AccountId, MedCaseId, Mode, Tenant } from '../../../domain/kernel/ids.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { addMillis, addSeconds, DAY_MS, type Timestamp } from '../../../domain/kernel/time.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { disputesProjection } from '../../../projections/disputes/projection.ts';
import { caseReads, caseViews } from '../../../projections/disputes/queries.ts';
import { liveSchema } from '../../../projections/engine/projection.ts';
import { createSchema } from '../../../projections/engine/schemaVersions.ts';
import { ACCOUNT_ID } from '../../support/samples.ts';
import { parseTimestamp } from '../../support/timestamp.ts';
import { caseAfter, caseOpened } from '../../world/medCases.ts';
import { useDatabase } from '../../world/postgres.ts';

const TENANT: Tenant = { accountId: ACCOUNT_ID, mode: 'test' };
const OTHER_ACCOUNT = '2acct000000000000000000000' as AccountId;
const NOW = parseTimestamp('2026-11-21T13:00:00.000Z');
/** Longer than any test runs. */
const HOUR_S = 3_600;

interface CaseRow {
  readonly id: string;
  readonly createdAt?: Timestamp;
  readonly tenant?: Tenant;
  readonly status?: CaseStatus;
  readonly remindAt?: Timestamp;
  /** Relative to the clock of the database. */
  readonly deadlineInSeconds?: number;
  readonly waitsBecause?: CaseWaitsBecause;
}

describe('queries of dispute cases', () => {
  let db: PgPool;
  useDatabase('suite', 1, (opened) => {
    db = opened;
  });
  before(async () => {
    await createSchema(db, disputesProjection, liveSchema(disputesProjection.name));
  });
  beforeEach(async () => {
    await db.query('DELETE FROM rm_disputes.cases');
    await db.query('DELETE FROM operations.test_clocks');
  });

  const write = async (...rows: readonly CaseRow[]): Promise<void> => {
    for (const { id, createdAt = NOW, tenant = TENANT, status = 'open', ...row } of rows) {
      const amountMismatch = row.waitsBecause === 'amount_mismatch';
      const opened = { ...caseAfter(caseOpened({ caseId: id as MedCaseId, ...tenant, amountMismatch })), createdAt };
      const state =
        row.waitsBecause === 'review' ? { ...opened, review: { result: 'agreed', since: createdAt } } : opened;
      await db.query(
        `INSERT INTO rm_disputes.cases (id, account_id, mode, revision, state, payment_id, type, status, created_at, remind_at,
          response_deadline, waits_because, waits_since)
        VALUES ($1, $2, $3, 0, $4, 'p1', 'med', $5, $6, $7, now() + $8 * interval '1 s', $9, $10)`,
        [
          id,
          tenant.accountId,
          tenant.mode,
          JSON.stringify(state),
          status,
          createdAt,
          row.remindAt ?? null,
          row.deadlineInSeconds ?? null,
          row.waitsBecause ?? null,
          row.waitsBecause === undefined ? null : createdAt,
        ],
      );
    }
  };
  const setClock = (accountId: AccountId, offsetSeconds: number, isDraining = false) =>
    db.query('INSERT INTO operations.test_clocks (account_id, offset_seconds, draining) VALUES ($1, $2, $3)', [
      accountId,
      offsetSeconds,
      isDraining,
    ]);
  /** Returns the ids of each page, up to the one that reports no more pages. */
  const pages = async (limit: number, filter: CaseFilter = {}, tenant = TENANT) => {
    const found: string[][] = [];
    for (let after: MedCaseId | null = null; ; ) {
      const page = await caseViews(db).list(tenant, filter, { after, limit });
      const ids = page?.cases.map(({ terms }) => terms.caseId) ?? [];
      found.push(ids);
      if (page?.hasMore !== true || found.length > 9) return found;
      after = ids.at(-1) ?? null;
    }
  };
  const mode = (of: Mode): Tenant => ({ accountId: ACCOUNT_ID, mode: of });

  it('continue after the last case of a page, also among cases of the same instant, which are ordered by id', async () => {
    const older = addMillis(NOW, -1);
    await write(
      { id: 'b', createdAt: older },
      { id: 'e' },
      { id: 'd' },
      { id: 'c' },
      { id: 'a', createdAt: older },
      { id: 'f', createdAt: addMillis(NOW, 1) },
    );
    const all = ['f', 'c', 'd', 'e', 'a', 'b'];
    for (const limit of [1, 2, 4, 5, 6, 7]) expect((await pages(limit)).flat(), `by ${limit}`).to.deep.equal(all);
  });
  it('report no further page when the last case fills a page', async () => {
    await write({ id: 'a' }, { id: 'b' }, { id: 'c' }, { id: 'd' });
    expect(await pages(2)).to.deep.equal([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    expect(await pages(4)).to.deep.equal([['a', 'b', 'c', 'd']]);
    expect(await pages(3)).to.deep.equal([['a', 'b', 'c'], ['d']]);
  });
  it('hide cases of another account or mode in lists, in lookups and as cursors', async () => {
    const other: Tenant = { accountId: OTHER_ACCOUNT, mode: 'test' };
    await write({ id: 'mine' }, { id: 'live', tenant: mode('live') }, { id: 'other', tenant: other });
    for (const [tenant, own] of [
      [TENANT, 'mine'],
      [mode('live'), 'live'],
      [other, 'other'],
    ] as const)
      for (const id of ['mine', 'live', 'other'] as MedCaseId[]) {
        const isOwn = id === own;
        expect((await caseViews(db).find(tenant, id))?.terms.caseId ?? null).to.equal(isOwn ? id : null);
        const page = await caseViews(db).list(tenant, {}, { after: id, limit: 5 });
        expect(page).to.deep.equal(isOwn ? { cases: [], hasMore: false } : null);
        expect(await pages(5, {}, tenant)).to.deep.equal([[own]]);
      }
  });

  it('list what waits for operators, of every tenant, oldest first', async () => {
    await write(
      { id: 'a', waitsBecause: 'review' },
      { id: 'b', createdAt: addSeconds(NOW, -1), waitsBecause: 'amount_mismatch', tenant: mode('live') },
      { id: 'c', createdAt: addSeconds(NOW, -2) },
      { id: 'd', waitsBecause: 'amount_mismatch' },
    );
    const waiting = async (limit: number) =>
      (await caseReads(db).waiting(limit)).map(({ id, waits }) => [id, ...waits.map(([because]) => because)]);
    const all = [
      ['b', 'amount_mismatch'],
      ['a', 'review'],
      ['d', 'amount_mismatch'],
    ];
    expect(await waiting(9)).to.deep.equal(all);
    expect(await waiting(2)).to.deep.equal(all.slice(0, 2));
    expect(await caseReads(db).countWaiting()).to.equal(3);
  });
  it('list an outcome until its review, and an amount mismatch until it is settled, also after the case has ended', () => {
    const review: MedCaseEvent = {
      type: 'MedCaseReviewRequested',
      data: { result: 'agreed', returned: true, returnedToPayer: null, report: 2, ruledAt: NOW, at: NOW },
    };
    const how = { verdict: 'lost', amount: toMinor(1), by: 'operator:ana', reason: 'x' } as const;
    const settled: MedCaseEvent = { type: 'MedCaseSettled', data: { ...how, announced: true, at: NOW } };
    const appealed: MedCaseEvent = { type: 'MedCaseAppealed', data: { reason: 'It came.', at: NOW } };
    const accepted: MedCaseEvent = { type: 'MedCaseAccepted', data: { announced: true, at: NOW } };
    const because = (...events: readonly MedCaseEvent[]) => waitsOf(caseAfter(...events)).map(([why]) => why);
    const [same, other] = [caseOpened(), caseOpened({ amountMismatch: true })];
    expect([because(same), because(same, review), because(same, accepted)]).to.deep.equal([[], ['review'], []]);
    for (const answered of [[], [appealed]]) {
      expect(because(other, ...answered)).to.deep.equal(['amount_mismatch']);
      expect(because(other, review, ...answered)).to.deep.equal(['review', 'amount_mismatch']);
    }
    // A mismatch waits until it is settled, whatever the state of the case.
    expect(because(other, accepted)).to.deep.equal(['amount_mismatch']);
    expect(because(other, accepted, settled)).to.deep.equal([]);
    expect(waitsOf({ status: 'absent' })).to.deep.equal([]);
  });
  it('return reports that wait for their payment, page by page, once they are due', async () => {
    await write({ id: 'a' }, { id: 'b' }, { id: 'c' }, { id: 'd' });
    for (const [id, at] of [
      ['a', NOW],
      ['b', addSeconds(NOW, -1)],
      ['c', addSeconds(NOW, -2)],
    ])
      await db.query('UPDATE rm_disputes.cases SET owed_since = $2 WHERE id = $1', [id, at]);
    const found: unknown[] = [];
    for await (const page of caseReads(db).owedReports(NOW, 1)) found.push(page);
    const owed = (caseId: string) => [{ tenant: TENANT, caseId, paymentId: 'p1' }];
    expect(found).to.deep.equal([owed('b'), owed('c'), []]);
    expect(await caseReads(db).countOwedReports()).to.equal(3);
  });
  it('find waiting reports by the bank’s id, for any tenant, and count them by reason', async () => {
    await write(
      { id: 'a', waitsBecause: 'report_not_taken' },
      { id: 'b', waitsBecause: 'report_contradicts', tenant: mode('live') },
      { id: 'c', waitsBecause: 'amount_mismatch' },
      { id: 'd' },
    );
    await db.query(`UPDATE rm_disputes.cases SET provider_case_id = 'bank-1'`);
    expect((await caseReads(db).waitingReports('bank-1')).toSorted()).to.deep.equal(['a', 'b']);
    expect(await caseReads(db).waitingReports('bank-2')).to.deep.equal([]);
    const { countWaiting } = caseReads(db);
    const counts = [
      await countWaiting(),
      await countWaiting('amount_mismatch'),
      await countWaiting('report_not_taken'),
    ];
    expect(counts).to.deep.equal([3, 1, 1]);
    expect([await countWaiting('report_contradicts'), await countWaiting('review')]).to.deep.equal([1, 0]);
  });
  it('count open cases past their deadline by the account’s clock', async () => {
    await write(
      { id: 'past', deadlineInSeconds: -HOUR_S },
      { id: 'ahead', deadlineInSeconds: HOUR_S },
      { id: 'live', deadlineInSeconds: HOUR_S, tenant: mode('live') },
      { id: 'unknown' },
      { id: 'appealed', deadlineInSeconds: -HOUR_S, status: 'appealed' },
      { id: 'closed', deadlineInSeconds: -HOUR_S, status: 'closed' },
    );
    const { countPastDeadline, countUnderWay } = caseReads(db);
    expect([await countPastDeadline(), await countUnderWay()]).to.deep.equal([1, 5]);
    // The test clock does not apply to live mode.
    await setClock(ACCOUNT_ID, 2 * HOUR_S);
    expect(await countPastDeadline()).to.equal(2);
  });
  it('list open cases near their deadline by the account’s clock, nearest first', async () => {
    await write(
      { id: 'later', deadlineInSeconds: 49 * HOUR_S },
      { id: 'ahead', deadlineInSeconds: 47 * HOUR_S, tenant: mode('live') },
      { id: 'past', deadlineInSeconds: -HOUR_S },
      { id: 'unknown' },
      { id: 'appealed', deadlineInSeconds: HOUR_S, status: 'appealed' },
      { id: 'closed', deadlineInSeconds: HOUR_S, status: 'closed' },
    );
    const { countNearDeadline, countForOperators, nearDeadline } = caseReads(db);
    const near = async (limit = 10) => (await nearDeadline(48, limit)).map(({ terms }) => terms.caseId);
    expect([await countNearDeadline(48), await near(), await near(1)]).to.deep.equal([2, ['past', 'ahead'], ['past']]);
    expect(await countForOperators(48)).to.deep.equal({ waiting: 0, near: 2 });
    await setClock(ACCOUNT_ID, 2 * HOUR_S);
    expect([await countNearDeadline(48), await near()]).to.deep.equal([3, ['past', 'ahead', 'later']]);
  });
  it('list overdue reminders by the account’s clock, except those of a test clock that is being drained', async () => {
    const early: Tenant = { accountId: OTHER_ACCOUNT, mode: 'test' };
    const drained: Tenant = { accountId: '3acct000000000000000000000' as AccountId, mode: 'test' };
    const late = addSeconds(NOW, DAY_MS / 1_000);
    await write(
      { id: 'a', remindAt: addMillis(NOW, -1) },
      { id: 'b', remindAt: NOW },
      { id: 'c', remindAt: addMillis(late, -1), tenant: early },
      { id: 'd', remindAt: late, tenant: early },
      { id: 'e', remindAt: addMillis(late, -1), tenant: { ...early, mode: 'live' } },
      { id: 'f', remindAt: addMillis(NOW, -1), tenant: drained },
      { id: 'g', remindAt: addMillis(NOW, -1), tenant: { ...drained, mode: 'live' } },
      { id: 'h' },
    );
    await setClock(early.accountId, DAY_MS / 1_000);
    await setClock(drained.accountId, 0, true);
    const expected = [
      { tenant: TENANT, caseId: 'a', paymentId: 'p1' },
      { tenant: early, caseId: 'c', paymentId: 'p1' },
      { tenant: { ...drained, mode: 'live' }, caseId: 'g', paymentId: 'p1' },
    ];
    for (const page of [1, 2, 3, 4]) {
      const found = [];
      for await (const some of caseReads(db).overdueReminders(NOW, page)) found.push(...some);
      expect(found, `by ${page}`).to.deep.equal(expected);
    }
  });
});
