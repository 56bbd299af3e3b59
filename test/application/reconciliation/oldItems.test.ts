// Old items of institutions are deleted once they agree with the ledger, and the reports of their days don’t change (rule V4).
import { expect } from 'chai';
import { deleteOldItems, type OldItemsNeeds } from '../../../application/reconciliation/deleteOldItems.ts';
import { civilDayBounds, saoPauloDay } from '../../../domain/kernel/civilDay.ts';
import type { ConnectionId } from '../../../domain/kernel/ids.ts';
import { addMillis, addSeconds, DAY_MS, fromMillis, type Timestamp } from '../../../domain/kernel/time.ts';
import type { PaymentEvent } from '../../../domain/payment/payment.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { oldItems } from '../../../projections/providerMovements/oldItems.ts';
import { useDatabase } from '../../world/postgres.ts';
import { ReconciliationDesk, receivedPix, returnOf } from '../../world/reconciliationDesk.ts';

const txidOf = (n: number): string => `txid${String(n).padStart(26, '0')}`;
/** Returns midnight in São Paulo this many days ago. */
const midnight = (daysAgo: number): Timestamp => {
  const day = saoPauloDay(fromMillis(Date.now() - daysAgo * DAY_MS));
  const bounds = civilDayBounds(day, 'America/Sao_Paulo');
  if (bounds === null) throw new Error(day);
  return bounds.from;
};
const KEPT_DAYS = 180;
/** One day older than the minimum age for a deletion. */
const OLD = midnight(KEPT_DAYS + 1);
const OLD_END = addMillis(OLD, DAY_MS - 1);
const DAY = saoPauloDay(OLD);
const T = (seconds: number): Timestamp => addSeconds(OLD, seconds);

describe('old items of a provider connection', () => {
  let pool: PgPool;
  let desk: ReconciliationDesk;
  let connections = 0;
  useDatabase('suite', 4, (opened) => {
    pool = opened;
  });
  before(() => ReconciliationDesk.prepare(pool));
  beforeEach(async () => {
    await ReconciliationDesk.empty(pool);
    await pool.query('TRUNCATE operations.reconciliation_runs');
    connections += 1;
    desk = new ReconciliationDesk(pool, `connection${connections}` as ConnectionId);
    await desk.needs.runs.completed(desk.connectionId, OLD);
  });

  const caughtUp = { head: null, isCaughtUp: true };
  const deleteAll = async (progress = caughtUp): Promise<void> => {
    const { runs, stopwatch } = desk.needs;
    await deleteOldItems({ runs, stopwatch, oldItems: oldItems(pool, async () => progress) }, new Set());
  };
  /** Returns the kind and id of the remaining items. */
  const left = async (): Promise<readonly string[]> => {
    const { rows } = await pool.query<{ item: string }>(
      `SELECT kind || ' ' || id AS item FROM operations.provider_items WHERE connection_id = $1 ORDER BY at, id`,
      [desk.connectionId],
    );
    return rows.map(({ item }) => item);
  };
  /** Records that every comparison has passed this time. */
  const passed = (until: Timestamp) =>
    pool.query('UPDATE operations.reconciliation_looks SET until = $2, target = $2 WHERE connection_id = $1', [
      ...[desk.connectionId, until],
    ]);
  const DAYS = [-1, 0, 1].map((n) => saoPauloDay(addMillis(OLD, n * DAY_MS)));
  const reports = () => Promise.all(DAYS.map((day) => desk.report(day)));
  /** Adds charges paid at these times and listed by the institution. */
  const paid = async (...times: readonly Timestamp[]): Promise<void> => {
    await desk.project(...times.map((_, n) => desk.created(`payment${n}`, txidOf(n))));
    await desk.project(...times.map((at, n) => desk.settled(`payment${n}`, `E${n}`, 500, at)));
    for (const [n, at] of times.entries()) desk.institution.received.push(receivedPix(`E${n}`, txidOf(n), 500, at));
  };

  it('are deleted if another connection with the same Pix key recorded them', async () => {
    const other = new ReconciliationDesk(pool, 'other' as ConnectionId);
    await desk.project(other.created('payment0', txidOf(0)), other.settled('payment0', 'E0', 500, T(0)));
    await desk.project(...other.refunded('payment0', 'refund0', 200, T(50)));
    desk.institution.received.push(receivedPix('E0', txidOf(0), 500, T(0), [returnOf('refund0', 200, T(50))]));
    await desk.compare(OLD, OLD_END);
    await passed(fromMillis(Date.now()));
    const before = await reports();
    expect([await left(), await desk.findings(true)]).to.deep.equal([['received E0', 'returned refund0'], []]);
    await deleteAll();
    expect([await left(), await reports()]).to.deep.equal([[], before]);
  });
  it('are deleted if they agree; differing items stay, and the reports don’t change', async () => {
    await paid(T(0), T(10), T(20), T(30), T(40), OLD_END, addMillis(OLD_END, 1));
    const { received, sent } = desk.institution;
    // A different amount, an unknown Pix, and a payment that is not listed.
    received[1] = receivedPix('E1', txidOf(1), 700, T(10));
    received.push(receivedPix('X', null, 900, T(50)));
    received.splice(2, 1);
    // A refund, a refund listed on the day before its posting, and a return that Quita recorded as made outside.
    await desk.project(...desk.refunded('payment3', 'refund3', 200, T(35)));
    received[2] = receivedPix('E3', txidOf(3), 500, T(30), [returnOf('refund3', 200, T(35))]);
    await desk.project(...desk.refunded('payment4', 'refund4', 100, addMillis(OLD_END, 2)));
    const outside = {
      ...{ providerPaymentId: 'E4', id: 'app', returnId: null, nature: 'ordinary', owner: 'merchant', fromHold: 0 },
      ...{ amount: 50, currency: 'BRL', at: T(60) },
    };
    await desk.project(['payment4', { type: 'TransactionReturnedOutside', data: outside } as unknown as PaymentEvent]);
    const returns = [returnOf('refund4', 100, T(70)), returnOf('app', 50, T(60))];
    received[3] = receivedPix('E4', txidOf(4), 500, T(40), returns);
    await desk.project(desk.requestedPayout('payout0', 300, T(80)), desk.paidPayout('payout0', 300, T(81)));
    sent.push({ id: 'payout0', endToEndId: 'P0', status: 'done', amount: 300 as never, at: T(81) });
    await desk.compare(OLD, addMillis(OLD, 2 * DAY_MS));
    const before = await reports();
    const findings = await desk.findings();
    expect(findings).to.include.members(['amount E1', 'unmatched X', 'missing_there E2', 'foreign_return E4/app']);
    await passed(fromMillis(Date.now()));
    await deleteAll();
    const exceptions = ['received E1', 'received X', 'returned app', 'returned refund4'];
    expect(await left()).to.deep.equal([...exceptions, 'received E6']);
    expect([await reports(), await desk.findings()]).to.deep.equal([before, findings]);
    // A second run deletes nothing more, and listing the items again counts nothing twice.
    await deleteAll();
    expect(await left()).to.deep.equal([...exceptions, 'received E6']);
    await passed(OLD);
    await desk.compare(OLD, addMillis(OLD, 2 * DAY_MS));
    expect([await reports(), await desk.findings()]).to.deep.equal([before, findings]);
  });

  it('are kept until they are old enough and every comparison is a day past them', async () => {
    const young = midnight(KEPT_DAYS);
    await paid(T(0), young);
    await desk.compare(OLD, addMillis(OLD, 3 * DAY_MS));
    for (const until of [OLD_END, addMillis(OLD, 2 * DAY_MS - 1)]) {
      await passed(until);
      await deleteAll();
      expect(await left()).to.deep.equal(['received E0', 'received E1']);
    }
    await passed(addMillis(OLD, 2 * DAY_MS));
    await deleteAll({ ...caughtUp, isCaughtUp: false });
    expect(await left()).to.deep.equal(['received E0', 'received E1']);
    await deleteAll();
    expect(await left()).to.deep.equal(['received E1']);
    await passed(fromMillis(Date.now()));
    await deleteAll();
    expect(await left()).to.deep.equal(['received E1']);
  });

  it('are kept on a day with a posting that was never compared, since it would look the same as the deleted ones', async () => {
    await paid(T(0), T(3_600));
    await desk.compare(OLD, T(60));
    const before = await desk.report(DAY);
    expect(before.findings.map(({ kind, endToEndId }) => [kind, endToEndId])).to.deep.equal([['missing_there', 'E1']]);
    await passed(fromMillis(Date.now()));
    await deleteAll();
    expect([await left(), await desk.report(DAY)]).to.deep.equal([['received E0'], before]);
  });

  it('are kept if an operator resolved their absence before they were listed', async () => {
    await paid(T(0));
    const [late] = desk.institution.received.splice(0);
    await desk.compare(OLD, OLD_END);
    const [finding] = desk.alerts;
    await desk.operate().resolveFinding(finding?.id ?? '', 'asked', { actor: 'operator:ana', requestId: null });
    desk.institution.received.push(late as NonNullable<typeof late>);
    await passed(OLD);
    await desk.compare(OLD, OLD_END);
    const before = await desk.report(DAY);
    await passed(fromMillis(Date.now()));
    await deleteAll();
    expect([await left(), await desk.report(DAY)]).to.deep.equal([['received E0'], before]);
  });

  it('are kept if they match a dispute, so that a later return of the same amount can’t match it instead', async () => {
    await paid(T(0));
    const returned = { caseId: 'case0', amount: 200, currency: 'BRL', at: T(60) };
    await desk.project(['payment0', { type: 'TransactionDisputeReturned', data: returned } as unknown as PaymentEvent]);
    const made = (id: string) => returnOf(id, 200, T(50), { nature: 'medOperational' });
    desk.institution.received[0] = receivedPix('E0', txidOf(0), 500, T(0), [made('med0')]);
    await desk.compare(OLD, OLD_END);
    const before = await desk.report(DAY);
    expect([before.returned, before.difference]).to.deep.equal([200, 0]);
    await passed(fromMillis(Date.now()));
    await deleteAll();
    expect([await left(), await desk.report(DAY)]).to.deep.equal([['returned med0'], before]);
    await passed(OLD);
    desk.institution.received[0] = receivedPix('E0', txidOf(0), 500, T(0), [made('med1')]);
    await desk.compare(OLD, OLD_END);
    expect(await desk.findings()).to.deep.equal(['foreign_return E0/med1']);
  });

  it('stay deleted if a slow process checks the same day concurrently, and the report does not change', async () => {
    await paid(T(0));
    await desk.compare(OLD, OLD_END);
    const before = await desk.report(DAY);
    await passed(fromMillis(Date.now()));
    const other = oldItems(pool, async () => caughtUp);
    let isFirst = true;
    const slow = oldItems(
      {
        query: async (statement, values) => {
          if (isFirst && String(statement).includes('max(p.at)')) {
            isFirst = false;
            while (await other.deleteSome(desk.connectionId));
          }
          return pool.query(statement, values);
        },
      },
      async () => caughtUp,
    );
    while (await slow.deleteSome(desk.connectionId));
    expect([isFirst, await left(), await desk.report(DAY)]).to.deep.equal([false, [], before]);
  });

  it('are deleted although the deletion of another connection fails, which comes last in the next run', async () => {
    const tried: string[] = [];
    let elapsedMs = 0;
    const needs = {
      runs: { known: async () => ['a', 'b', 'c'] },
      oldItems: {
        deleteSome: async (id: string) => {
          tried.push(id);
          elapsedMs += 8_000;
          if (id === 'a') throw new Error('statement timeout');
          return false;
        },
      },
      stopwatch: { elapsedMs: () => elapsedMs, pause: async () => undefined },
    } as unknown as OldItemsNeeds;
    const failing = new Set<ConnectionId>();
    const run = () => deleteOldItems(needs, failing).catch(({ message }: Error) => message);
    expect([await run(), await run(), tried.join()]).to.deep.equal(['statement timeout', undefined, 'a,b,b,c']);
  });

  it('are deleted in batches', async () => {
    await paid(...Array.from({ length: 2_001 }, (_, n) => T(n)));
    await desk.compare(OLD, OLD_END);
    const before = await desk.report(DAY);
    await passed(fromMillis(Date.now()));
    const some = oldItems(pool, async () => caughtUp);
    const counts: number[] = [];
    while (await some.deleteSome(desk.connectionId)) counts.push((await left()).length);
    // The first call starts the day, the next three check its postings, and the rest delete items.
    expect(counts).to.deep.equal([2_001, 2_001, 2_001, 2_001, 1_001, 1, 0]);
    expect(await desk.report(DAY)).to.deep.equal(before);
  });
});
