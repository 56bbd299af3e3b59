// Lists of dispute cases read little more than they return, for an account with 100,000 cases (architecture §6).

import { expect } from 'chai';
import type { CaseFilter } from '../../../application/ports/readModels/cases.ts';
import { CASE_STATUSES, CASE_TYPES } from '../../../domain/dispute/medCase.ts';
import type { MedCaseId, PaymentId, Tenant } from '../../../domain/kernel/ids.ts';
import { addSeconds } from '../../../domain/kernel/time.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { disputesProjection } from '../../../projections/disputes/projection.ts';
import { caseReads, caseViews } from '../../../projections/disputes/queries.ts';
import { liveSchema } from '../../../projections/engine/projection.ts';
import { createSchema } from '../../../projections/engine/schemaVersions.ts';
import { ACCOUNT_ID } from '../../support/samples.ts';
import { parseTimestamp } from '../../support/timestamp.ts';
import { caseAfter, caseOpened } from '../../world/medCases.ts';
import { useDatabase } from '../../world/postgres.ts';
import { plansOf, rowsRead } from '../engine/plans.ts';

const TENANT: Tenant = { accountId: ACCOUNT_ID, mode: 'test' };
const NOW = parseTimestamp('2026-11-21T13:00:00.000Z');
const ROWS = 100_000;
const MIDDLE = 'c50000' as MedCaseId;
const MIDDLE_AT = addSeconds(NOW, -50_000);
const stateOf = (caseId: MedCaseId) => JSON.stringify({ ...caseAfter(caseOpened({ caseId })), createdAt: MIDDLE_AT });

/** One case per second, of 50,000 charges: all closed and of type med, except ten old cases of each pair of status and type. */
const RARE = CASE_STATUSES.length * CASE_TYPES.length;
const FILL = [
  `INSERT INTO rm_disputes.cases (id, account_id, mode, revision, state, payment_id, type, status, created_at, remind_at, waits_because, waits_since)
    SELECT 'c' || n, '${ACCOUNT_ID}', 'test', 0, '${stateOf(MIDDLE)}', 'p' || n % (${ROWS} / 2),
      CASE WHEN old IS NULL THEN 'med' ELSE (ARRAY['${CASE_TYPES.join("','")}'])[old / ${CASE_STATUSES.length} + 1] END,
      CASE WHEN old IS NULL THEN 'closed' ELSE (ARRAY['${CASE_STATUSES.join("','")}'])[old % ${CASE_STATUSES.length} + 1] END,
      timestamptz '${NOW}' - n * interval '1 second',
      CASE WHEN n <= 200 THEN timestamptz '${NOW}' END, CASE WHEN n <= 200 THEN 'review' END,
      CASE WHEN n <= 200 THEN timestamptz '${NOW}' - n * interval '1 second' END
    FROM generate_series(1, ${ROWS}) n
    CROSS JOIN LATERAL (SELECT CASE WHEN n > ${ROWS - 10 * RARE} THEN n % ${RARE} END AS old) of`,
  'VACUUM ANALYZE',
];

describe('queries of 100,000 dispute cases', () => {
  let db: PgPool;
  useDatabase('suite', 1, (opened) => {
    db = opened;
  });
  before(async () => {
    await createSchema(db, disputesProjection, liveSchema(disputesProjection.name));
    for (const statement of FILL) await db.query(statement);
  });

  // Bounds: the page, one row more, and the case that the page starts after.
  for (const [what, filter, after, cases, atMost] of [
    ['all cases', {}, null, 100, 101],
    ['all cases after a cursor', {}, MIDDLE, 100, 103],
    ['cases of a charge', { chargeId: 'p7' as PaymentId }, null, 2, 2],
    [
      'cases of a charge with a status and a type',
      { chargeId: 'p7' as PaymentId, status: 'closed', type: 'med' },
      null,
      2,
      2,
    ],
    ['cases with the most common status', { status: 'closed' }, MIDDLE, 100, 103],
    ['cases with a rare status', { status: 'open' }, null, 40, 40],
    ['cases of the most common type', { type: 'med' }, MIDDLE, 100, 103],
    ['cases of a rare type', { type: 'chargeback' }, null, 50, 50],
    ['cases of a rare type after a cursor', { type: 'fraud' }, MIDDLE, 50, 52],
    ['closed cases of a rare type', { status: 'closed', type: 'fraud' }, null, 10, 60],
    ['open cases of a common type', { status: 'open', type: 'med' }, null, 10, 60],
    ['cases created after an instant', { createdAfter: addSeconds(MIDDLE_AT, -30) }, MIDDLE, 29, 32],
    ['cases created before an instant', { createdBefore: MIDDLE_AT }, null, 100, 101],
    [
      'cases with a type and a status between two instants',
      { type: 'med', status: 'closed', createdAfter: addSeconds(MIDDLE_AT, -30), createdBefore: MIDDLE_AT },
      null,
      29,
      30,
    ],
    ['no cases if none match', { status: 'open', createdAfter: MIDDLE_AT }, null, 0, 40],
  ] satisfies readonly (readonly [string, CaseFilter, MedCaseId | null, number, number])[])
    it(`list ${what} with at most ${atMost} rows read`, async () => {
      const page = { after, limit: 100 };
      expect((await caseViews(db).list(TENANT, filter, page))?.cases).to.have.length(cases);
      const read = rowsRead(await plansOf(db, (of) => caseViews(of).list(TENANT, filter, page)));
      expect(read).to.be.within(cases, atMost);
    });

  it('find open cases by deadline without reading ended ones', async () => {
    expect(await caseViews(db).toAnswer(TENANT, 50)).to.have.length(40);
    expect(rowsRead(await plansOf(db, (of) => caseViews(of).toAnswer(TENANT, 50)))).to.be.within(40, 80);
  });

  it('find cases that wait for operators or reminders without reading the others', async () => {
    expect(await caseReads(db).waiting(100)).to.have.length(100);
    expect(rowsRead(await plansOf(db, (of) => caseReads(of).waiting(100)))).to.be.within(100, 200);
    expect(rowsRead(await plansOf(db, (of) => caseReads(of).countWaiting()))).to.be.within(1, 400);
    expect(rowsRead(await plansOf(db, (of) => caseReads(of).countPastDeadline()))).to.be.within(0, 100);
    expect(rowsRead(await plansOf(db, (of) => caseReads(of).countNearDeadline(48)))).to.be.within(0, 200);
    expect(rowsRead(await plansOf(db, (of) => caseReads(of).nearDeadline(48, 100)))).to.be.within(0, 200);
    expect(rowsRead(await plansOf(db, (of) => caseReads(of).countUnderWay()))).to.be.within(1, 200);
    let reminders = 0;
    const remind = async (of: Parameters<typeof caseReads>[0]) => {
      for await (const found of caseReads(of).overdueReminders(addSeconds(NOW, 1), 100)) reminders += found.length;
    };
    expect(rowsRead(await plansOf(db, remind))).to.be.within(200, 1_000);
    expect(reminders).to.equal(200);
  });
});
