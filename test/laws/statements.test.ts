// The property of statements over random histories: for each part of a merchant’s money, opening plus movements equals closing, a month’s
// closing is the next month’s opening, and the last closing is the balance. Expectations are computed from the events only.
import { expect } from 'chai';
import fc from 'fast-check';
import type { LoggedEvent } from '../../application/ports/loggedEvent.ts';
import type { Sql, SqlPool, SqlTransaction } from '../../application/ports/sql.ts';
import { saoPauloDay } from '../../domain/kernel/civilDay.ts';
import { type AccountId, encodeRawId } from '../../domain/kernel/ids.ts';
import {
  addSums,
  type JournalEntry,
  type MerchantSums,
  merchantSums,
  NO_MONEY,
  totalOf,
} from '../../domain/kernel/journal.ts';
import { toMinor } from '../../domain/kernel/money.ts';
import { addSeconds, DAY_MS, type Timestamp } from '../../domain/kernel/time.ts';
import type { PaymentEvent } from '../../domain/payment/payment.ts';
import { journalEntry } from '../../domain/payment/postings.ts';
import type { PayoutEvent } from '../../domain/payout/payout.ts';
import { payoutPostings } from '../../domain/payout/postings.ts';
import { type Movement, type StatementMonth, statementMonth } from '../../domain/presentation/statement.ts';
import { dailyBalancesProjection } from '../../projections/dailyBalances/projection.ts';
import { liveSchema } from '../../projections/engine/projection.ts';
import { createSchema } from '../../projections/engine/schemaVersions.ts';
import { walletProjection } from '../../projections/wallet/projection.ts';
import { findBalances } from '../../projections/wallet/queries.ts';
import { statementViews } from '../../projections/wallet/statements.ts';
import { failed, late, paid, requested } from '../domain/payout/samples.ts';
import { type LawDatabase, lawDatabase } from '../support/lawDatabase.ts';
import { histories, run } from '../support/paymentHistories.ts';
import { at, CASE_ID, settled } from '../support/samples.ts';

const RUNS = 40;
/** The events of the histories are within four days of 2026-11-21. */
const MONTHS = ['2026-10', '2026-11', '2026-12', '2027-01', '2027-02'].map(
  (text) => statementMonth(text) as StatementMonth,
);

const PAYOUTS: readonly (readonly PayoutEvent[])[] = [
  [requested(), paid],
  [requested(), failed],
  [requested(), failed, late],
  [requested()],
];
/** Up to two months, in seconds. */
const shift = fc.integer({ min: 0, max: 60 * (DAY_MS / 1_000) });
/** The first and last milliseconds of months. */
const edge = fc.constantFrom(...MONTHS.flatMap(({ from, to }) => [from, to]));
/** Returns that count as those of a lost dispute, with what its ruling had posted. All on one day, so that the sums could mix them. */
const counted = fc
  .constantFrom([700, 700], [700, 200], [200, 700], [700, 0], [-300, 0])
  .map(([amount = 0, posted = 0]): readonly PaymentEvent[] => [
    settled(),
    {
      type: 'TransactionDisputeReturnCounted',
      data: { caseId: CASE_ID, amount: toMinor(amount), posted: toMinor(posted), currency: 'BRL', at: at('17:00:00') },
    },
  ]);
const plot = fc.array(
  fc.oneof(
    counted.map((events) => ({ of: 'lost' as const, events })),
    fc
      .tuple(histories, shift)
      .map(([[isLocked, steps], seconds]) => ({ of: 'payment' as const, isLocked, steps, seconds })),
    fc
      .tuple(fc.constantFrom(...PAYOUTS), fc.oneof(shift, edge))
      .map(([events, when]) => ({ of: 'payout' as const, events, when })),
  ),
  { minLength: 1, maxLength: 8 },
);
type Plot = typeof plot extends fc.Arbitrary<infer Value> ? Value : never;

interface Written {
  readonly category: 'payment' | 'payout';
  readonly subject: string;
  readonly revision: number;
  readonly event: PaymentEvent | PayoutEvent;
  readonly entry: JournalEntry | null;
}

let ids = 0;
const rawId = (): string => {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setUint32(12, ++ids);
  return encodeRawId(bytes);
};

const later = <Event extends PaymentEvent | PayoutEvent>(event: Event, seconds: number): Event =>
  'at' in event.data ? ({ ...event, data: { ...event.data, at: addSeconds(event.data.at, seconds) } } as Event) : event;

const writtenBy = (told: Plot): readonly Written[] =>
  told.flatMap((one): readonly Written[] => {
    const subject = rawId();
    if (one.of === 'payout')
      return one.events.map((event, revision) => {
        const { when } = one;
        const at = typeof when === 'number' ? addSeconds(event.data.at, when) : when;
        const shifted = { ...event, data: { ...event.data, at } } as PayoutEvent;
        return { category: 'payout', subject, revision, event: shifted, entry: payoutPostings.entryOf(shifted) };
      });
    if (one.of === 'lost')
      return one.events.map((event, revision) => ({
        ...{ category: 'payment', subject, revision, event, entry: journalEntry(event) },
      }));
    return run(one.isLocked, one.steps).events.map((event, revision) => {
      const shifted = later(event, one.seconds);
      return { category: 'payment', subject, revision, event: shifted, entry: journalEntry(shifted) };
    });
  });

const sumsOf = ({ available, pending, retained }: MerchantSums): MerchantSums => ({ available, pending, retained });

const grossOf = (movements: readonly Movement[]): number => movements.reduce((sum, { gross }) => sum + gross, 0);

const sumsUntil = (written: readonly Written[], to: Timestamp): MerchantSums =>
  written
    .filter(({ entry }) => entry !== null && entry.at <= to)
    .map(({ entry }) => merchantSums(entry?.postings ?? []))
    .reduce(addSums, NO_MONEY);

const SCHEMA_OF_DAYS = liveSchema('dailyBalances');
const writerOfDays = dailyBalancesProjection.writer(SCHEMA_OF_DAYS);

describe('the property of statements', () => {
  let database: LawDatabase;
  before(async () => {
    database = await lawDatabase(walletProjection);
    await createSchema(database.pool, dailyBalancesProjection, SCHEMA_OF_DAYS);
  });
  after(() => database.close());

  const logged = (written: readonly Written[], account: AccountId) =>
    written.map((one) => ({
      ...one,
      account,
      mode: 'test' as const,
      stream: `${one.category}-${one.subject}`,
      position: '1' as never,
    }));
  const project = async (written: readonly Written[], account: AccountId) => {
    const events = logged(written, account);
    // Two batches, so that the second one adds to existing days.
    const half = Math.ceil(events.length / 2);
    for (const batch of [events.slice(0, half), events.slice(half)]) {
      await database.project(batch, '1');
      await writerOfDays.apply(batch as unknown as readonly LoggedEvent[], database.pool);
    }
  };

  it('opening plus movements equals closing, which is the next month’s opening and finally the balance', async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(plot, async (told) => {
        const written = writtenBy(told);
        const tenant = { accountId: rawId() as AccountId, mode: 'test' as const };
        await project(written, tenant.accountId);
        const views = statementViews(database.pool);
        let closing = NO_MONEY;
        const all: Movement[] = [];
        for (const month of MONTHS) {
          const opening = await views.opening(tenant, 'BRL', month);
          expect(opening, `opening of ${month.month}`).to.deep.equal(closing);
          const movements: Movement[] = [];
          for await (const page of views.movements(tenant, 'BRL', month)) movements.push(...page);
          closing = movements.reduce(addSums, opening);
          expect(closing, `closing of ${month.month}`).to.deep.equal(sumsUntil(written, month.to));
          const summary = await views.summary(tenant, 'BRL', month, movements.length);
          expect(summary.opening).to.deep.equal(opening);
          expect(summary.movements).to.deep.equal(movements);
          expect(summary.days.reduce(addSums, opening), 'days').to.deep.equal(closing);
          expect(summary.kinds.reduce(addSums, opening), 'kinds').to.deep.equal(closing);
          const byDay = Map.groupBy(movements, ({ at }) => saoPauloDay(at));
          // A day whose movements cancel out sums to zero.
          expect(summary.days).to.deep.equal(
            [...byDay].map(([day, of]) => ({ day, ...of.map(sumsOf).reduce(addSums, NO_MONEY) })),
          );
          expect(
            new Map(summary.kinds.map(({ kind, movements: count, gross }) => [kind, [count, gross]])),
          ).to.deep.equal(
            new Map(
              [...Map.groupBy(movements, ({ kind }) => kind)].map(([kind, of]) => [kind, [of.length, grossOf(of)]]),
            ),
          );
          if (movements.length > 0)
            expect((await views.summary(tenant, 'BRL', month, movements.length - 1)).movements).to.equal(null);
          all.push(...movements);
        }
        const [balance] = await findBalances(database.pool, tenant);
        const { available, pending, retained } = balance ?? NO_MONEY;
        expect(closing).to.deep.equal({ available, pending, retained });
        expect(new Set(all.map(({ id }) => id)).size, 'unique ids').to.equal(all.length);
        for (const one of all) {
          expect(one.gross - one.providerFee - one.platformFee).to.equal(totalOf(one));
          expect(one.id.length).to.be.at.most(32);
          seen.add(one.kind);
        }
        const entries = written.filter(({ entry }) => totalOf(merchantSums(entry?.postings ?? [])) !== 0);
        expect(all.length).to.be.at.least(entries.length);
      }),
      { numRuns: RUNS },
    );
    expect(seen, 'kinds').to.include.members(['payment', 'payout', 'payout_failed', 'dispute_loss', 'dispute_return']);
  });

  it('a summary is consistent while money is posted and while the read model of days lags behind the ledger', async () => {
    const tenant = { accountId: rawId() as AccountId, mode: 'test' as const };
    const payout = () => writtenBy([{ of: 'payout', events: [requested(), paid], when: 0 }]);
    await project(payout(), tenant.accountId);
    await database.project(logged(payout(), tenant.accountId), '1');
    let posted = 0;
    /** Posts a payout after the first statement of the transaction. */
    const posting: SqlPool = Object.assign(Object.create(database.pool) as SqlPool, {
      transaction: <T>(work: (tx: SqlTransaction) => Promise<T>, begin?: string) =>
        database.pool.transaction((tx) => {
          const query = async (...asked: Parameters<Sql['query']>) => {
            const read = await tx.query(...asked);
            if (++posted === 1) await project(payout(), tenant.accountId);
            return read;
          };
          return work(Object.assign(Object.create(tx) as SqlTransaction, { query }));
        }, begin),
    });
    const month = statementMonth('2026-11') as StatementMonth;
    const { opening, days, kinds, movements } = await statementViews(posting).summary(tenant, 'BRL', month, 100);
    expect(posted).to.be.above(1);
    const closing = (movements ?? []).reduce(addSums, opening);
    const { entry } = payout().find((one) => one.entry !== null) as Written;
    const { available } = merchantSums(entry?.postings ?? []);
    expect(closing).to.include({ available: 2 * available });
    expect(kinds.reduce(addSums, opening)).to.deep.equal(closing);
    expect(days.reduce(addSums, opening)).to.deep.equal(closing);
  });
});
