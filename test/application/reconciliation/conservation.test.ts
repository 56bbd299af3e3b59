// Laws of the statement (rule V4) for random histories: a day’s difference is the sum of its findings, consecutive days join without a
// gap, and there are no findings if both sides agree.
import { expect } from 'chai';
import fc from 'fast-check';
import type { ProviderReturn } from '../../../application/ports/paymentProvider.ts';
import type { ReconciliationReport } from '../../../application/ports/readModels/providerMovements.ts';
import type { ConnectionId } from '../../../domain/kernel/ids.ts';
import { addMillis, DAY_MS, type Timestamp } from '../../../domain/kernel/time.ts';
import type { PaymentEvent } from '../../../domain/payment/payment.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { useDatabase } from '../../world/postgres.ts';
import { ReconciliationDesk, receivedPix, returnOf } from '../../world/reconciliationDesk.ts';

/** Midnight in São Paulo. */
const START = '2026-11-18T03:00:00.000Z' as Timestamp;
const DAYS = ['2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20', '2026-11-21', '2026-11-22'];
const SPAN_MS = 3 * DAY_MS;
const END = addMillis(START, SPAN_MS + DAY_MS);
const BEFORE = addMillis(START, -60_000);

const instant = fc.oneof(
  fc.integer({ min: 0, max: SPAN_MS }),
  // Near midnight in São Paulo.
  fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: -3, max: 3 })).map(([day, ms]) => day * DAY_MS + ms),
);
const amount = fc.integer({ min: 1, max: 1_000_000 });
const lag = fc.constantFrom(0, 1, 90_000, 3_600_000);

/** Which side knows a movement, and whether the amounts agree. */
const KNOWN = ['both'] as const;
const FAULTS = ['both', 'onlyHere', 'onlyThere', 'amount'] as const;
const stories = (sides: readonly ('both' | 'onlyHere' | 'onlyThere' | 'amount')[]) => {
  const side = fc.constantFrom(...sides);
  const foreign = sides.length === 1 ? fc.constant(false) : fc.boolean();
  return fc.array(
    fc.record({
      ...{ at: instant, amount, side, lag, isPayout: fc.boolean(), isUnknown: foreign },
      returns: fc.array(fc.record({ at: instant, amount, side, lag, isForeign: foreign }), { maxLength: 2 }),
    }),
    { maxLength: 12 },
  );
};
type Story = ReturnType<typeof stories> extends fc.Arbitrary<readonly (infer One)[]> ? One : never;

const OTHER = 7;

const play = async (desk: ReconciliationDesk, all: readonly Story[]): Promise<void> => {
  for (const [n, story] of all.entries())
    if (story.isPayout) await playPayout(desk, `payout${n}`, story);
    else await playPayment(desk, n, story);
};

const playPayout = async (desk: ReconciliationDesk, id: string, story: Story): Promise<void> => {
  const { side, isUnknown } = story;
  const at = addMillis(START, story.at);
  if (!isUnknown) await desk.project(desk.requestedPayout(id, story.amount, at));
  if (!isUnknown && side !== 'onlyThere')
    await desk.project(desk.paidPayout(id, story.amount, addMillis(at, story.lag)));
  if (side === 'onlyHere') return;
  const paid = side === 'amount' ? story.amount + OTHER : story.amount;
  desk.institution.sent.push({ id, endToEndId: null, status: 'done', amount: paid as never, at });
};

const playPayment = async (desk: ReconciliationDesk, n: number, story: Story): Promise<void> => {
  const { side, isUnknown, returns } = story;
  const [id, txid, e2e] = [`payment${n}`, `txid${String(n).padStart(26, '0')}`, `E${n}`];
  const at = addMillis(START, story.at);
  if (!isUnknown) await desk.project(desk.created(id, txid));
  const isHere = !isUnknown && side !== 'onlyThere';
  if (isHere) await desk.project(desk.settled(id, e2e, story.amount, at));
  const listed: ProviderReturn[] = [];
  for (const [m, back] of returns.entries()) {
    const [refund, backAt] = [`refund${n}x${m}`, addMillis(START, back.at)];
    const there = back.side === 'amount' ? back.amount + OTHER : back.amount;
    const isOurs = isHere && !back.isForeign;
    if (isOurs) {
      const recordedAt = back.side === 'onlyThere' ? null : addMillis(backAt, back.lag);
      const events: [string, PaymentEvent][] = desk.refunded(id, refund, back.amount, recordedAt);
      await desk.project(...events);
    }
    if (back.side === 'onlyHere') listed.push(returnOf(refund, there, backAt, { status: 'refused', settledAt: null }));
    else listed.push(returnOf(refund, there, backAt));
  }
  const paid = side === 'amount' ? story.amount + OTHER : story.amount;
  if (side !== 'onlyHere') desk.institution.received.push(receivedPix(e2e, txid, paid, at, listed));
};

const sumOf = ({ findings }: ReconciliationReport): number =>
  findings.reduce((sum, { expected, found }) => sum + (found ?? 0) - (expected ?? 0), 0);

describe('statements of a provider connection', () => {
  let pool: PgPool;
  let connections = 0;
  useDatabase('suite', 3, (opened) => {
    pool = opened;
  });
  before(() => ReconciliationDesk.prepare(pool));
  const deskFor = async (all: readonly Story[]): Promise<ReconciliationDesk> => {
    await ReconciliationDesk.empty(pool);
    connections += 1;
    const desk = new ReconciliationDesk(pool, `connection${connections}` as ConnectionId);
    desk.institution.pageSize = 3;
    await play(desk, all);
    await desk.compare(BEFORE, END);
    return desk;
  };
  const reportsOf = (desk: ReconciliationDesk) => Promise.all(DAYS.map((day) => desk.report(day)));

  it('explain every difference by findings, join from day to day, and don’t change when repeated', async () => {
    await fc.assert(
      fc.asyncProperty(stories(FAULTS), async (all) => {
        const desk = await deskFor(all);
        const reports = await reportsOf(desk);
        for (const [n, report] of reports.entries()) {
          expect(report.difference, report.day).to.equal(sumOf(report));
          const { opening, closing, received, returned, paidOut, difference } = report;
          expect(closing - opening).to.equal(received - returned - paidOut - difference);
          if (n > 0) expect(opening).to.equal(reports[n - 1]?.closing);
        }
        const found = await desk.findings();
        expect(found.length).to.equal(reports.flatMap(({ findings }) => findings).length);
        const alerts = desk.alerts.length;
        await desk.compare(BEFORE, END);
        expect([await desk.findings(), desk.alerts.length]).to.deep.equal([found, alerts]);
        expect(await reportsOf(desk)).to.deep.equal(reports);
      }),
      { numRuns: 15, endOnFailure: true },
    );
  });

  it('have no findings if both sides know everything', async () => {
    await fc.assert(
      fc.asyncProperty(stories(KNOWN), async (all) => {
        const desk = await deskFor(all);
        const reports = await reportsOf(desk);
        expect(reports.flatMap(({ difference, findings }) => [difference, ...findings])).to.deep.equal(
          DAYS.map(() => 0),
        );
        expect([await desk.findings(true), desk.alerts]).to.deep.equal([[], []]);
      }),
      { numRuns: 10, endOnFailure: true },
    );
  });
});
