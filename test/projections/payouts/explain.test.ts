// Lists of payouts read little more than they return, for an account with 100,000 of each kind (architecture §6).
import { expect } from 'chai';
import type { PayoutFilter } from '../../../application/ports/readModels/payouts.ts';
import type { Tenant } from '../../../domain/kernel/ids.ts';
import { addSeconds } from '../../../domain/kernel/time.ts';
import type { PayoutId } from '../../../domain/payout/payout.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { liveSchema } from '../../../projections/engine/projection.ts';
import { createSchema } from '../../../projections/engine/schemaVersions.ts';
import { payoutsProjection } from '../../../projections/payouts/projection.ts';
import { payoutReads, payoutViews } from '../../../projections/payouts/queries.ts';
import { FINGERPRINT, TERMS } from '../../domain/payout/samples.ts';
import { ACCOUNT_ID } from '../../support/samples.ts';
import { parseTimestamp } from '../../support/timestamp.ts';
import { useDatabase } from '../../world/postgres.ts';
import { plansOf, rowsRead } from '../engine/plans.ts';

const TENANT: Tenant = { accountId: ACCOUNT_ID, mode: 'test' };
const NOW = parseTimestamp('2026-11-21T13:00:00.000Z');
const ROWS = 100_000;
const MIDDLE = 'a50000' as PayoutId;
const MIDDLE_AT = addSeconds(NOW, -50_000);
const STATE = JSON.stringify({ status: 'ready', terms: TERMS, fingerprint: FINGERPRINT, requestedAt: NOW });

/**
 * One payout and one Pix-out per second, all paid except the ten oldest of each. The 200 newest payouts await approval or are unfinished.
 */
const AT = `timestamptz '${NOW}' - n * interval '1 second'`;
const STATUS = `CASE WHEN n > ${ROWS - 10} THEN 'failed' ELSE 'paid' END`;
const FILL = [
  `INSERT INTO rm_payouts.requested (id, account_id, mode, revision, state, status, created_at, awaits_since, open_since)
    SELECT 'a' || n, '${ACCOUNT_ID}', 'test', 0, '${STATE}', ${STATUS}, ${AT}, CASE WHEN n <= 100 THEN ${AT} END,
      CASE WHEN n BETWEEN 101 AND 200 THEN ${AT} END FROM generate_series(1, ${ROWS}) n`,
  `INSERT INTO rm_payouts.pix_outs (id, payment_id, account_id, mode, created_at, status, amount, currency, fee)
    SELECT 'b' || n, 'p' || n, '${ACCOUNT_ID}', 'test', ${AT}, ${STATUS}, 1, 'BRL', 0 FROM generate_series(1, ${ROWS}) n`,
  'VACUUM ANALYZE',
];
const ANY: PayoutFilter = { status: null, from: null, to: null };

describe('queries of 100,000 payouts and as many Pix-outs', () => {
  let db: PgPool;
  useDatabase('suite', 1, (opened) => {
    db = opened;
  });
  before(async () => {
    await createSchema(db, payoutsProjection, liveSchema(payoutsProjection.name));
    for (const statement of FILL) await db.query(statement);
  });

  // Bounds: the page and one row more of each kind, and the payout that the page starts after.
  for (const [what, filter, after, payouts, atMost] of [
    ['all payouts', {}, null, 100, 202],
    ['all payouts after a cursor', {}, MIDDLE, 100, 206],
    ['payouts with the most common status', { status: 'paid' }, MIDDLE, 100, 206],
    ['payouts with a rare status', { status: 'failed' }, null, 20, 20],
    ['no payouts if none has the status', { status: 'cancelled' }, null, 0, 0],
    ['payouts created after an instant', { from: addSeconds(MIDDLE_AT, -10) }, MIDDLE, 21, 26],
    ['payouts created before an instant', { to: MIDDLE_AT }, null, 100, 202],
  ] satisfies readonly (readonly [string, Partial<PayoutFilter>, PayoutId | null, number, number])[])
    it(`list ${what} with at most ${atMost} rows read`, async () => {
      const list = (of: typeof db | Parameters<Parameters<typeof plansOf>[1]>[0]) =>
        payoutViews(of).list(TENANT, { ...ANY, ...filter }, { after, limit: 100 });
      expect((await list(db))?.payouts).to.have.length(payouts);
      expect(rowsRead(await plansOf(db, list))).to.be.within(payouts, atMost);
    });

  it('find payouts that await approval or are unfinished without reading the others', async () => {
    const { payouts, total } = await payoutReads(db).awaitingApproval(null, 10);
    expect([payouts.length, total]).to.deep.equal([10, 100]);
    expect(rowsRead(await plansOf(db, (of) => payoutReads(of).awaitingApproval(ACCOUNT_ID, 10)))).to.be.within(10, 200);
    expect(rowsRead(await plansOf(db, (of) => payoutReads(of).countAwaitingApproval()))).to.be.within(1, 200);
    let found = 0;
    const look = async (of: Parameters<typeof payoutReads>[0]) => {
      for await (const page of payoutReads(of).unfinished(addSeconds(NOW, 1), 1_000)) found += page.length;
    };
    expect(rowsRead(await plansOf(db, look))).to.be.within(100, 300);
    expect(found).to.equal(100);
  });
});
