// The comparison of a connection, step by step: missing callbacks, late lists, interruptions, and concurrent processes (rule V4).
import { expect } from 'chai';
import { StreamUnreadable } from '../../../application/core/commandHandler.ts';
import type { TakeReturns } from '../../../application/disputes/takeReturns.ts';
import { UnknownAtProvider } from '../../../application/ports/paymentProvider.ts';
import { takeStep } from '../../../application/reconciliation/compareConnection.ts';
import { operateReconciliation } from '../../../application/reconciliation/operateReconciliation.ts';
import { reconcileConnection } from '../../../application/reconciliation/reconcileConnections.ts';
import type { AccountId, ConnectionId } from '../../../domain/kernel/ids.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { addMillis, addSeconds, DAY_MS, fromMillis, HOUR_MS, type Timestamp } from '../../../domain/kernel/time.ts';
import type { PaymentEvent } from '../../../domain/payment/payment.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { systemStopwatch } from '../../../infrastructure/system/system.ts';
import { useDatabase } from '../../world/postgres.ts';
import { ReconciliationDesk, receivedPix, returnOf } from '../../world/reconciliationDesk.ts';

/** Midnight in São Paulo. */
const DAY = '2026-11-20T03:00:00.000Z' as Timestamp;
const DAY_END = addMillis(DAY, DAY_MS - 1);
const T = (seconds: number): Timestamp => addSeconds(DAY, seconds);
const txidOf = (n: number): string => `txid${String(n).padStart(26, '0')}`;
const MINUTE_MS = 60_000;

describe('the comparison of a provider connection', () => {
  let pool: PgPool;
  let desk: ReconciliationDesk;
  let connections = 0;
  useDatabase('suite', 4, (opened) => {
    pool = opened;
  });
  before(() => ReconciliationDesk.prepare(pool));
  beforeEach(async () => {
    await ReconciliationDesk.empty(pool);
    connections += 1;
    desk = new ReconciliationDesk(pool, `connection${connections}` as ConnectionId);
  });
  const compare = () => desk.compare(DAY, DAY_END);
  const work = () => ({ ...desk.needs, connection: desk.connection, takeReturns: [] });
  /** Adds charges without a callback, one per minute. */
  const dropped = async (count: number, of = (_: number): AccountId | undefined => undefined): Promise<void> => {
    const numbers = Array.from({ length: count }, (_, n) => n);
    await desk.project(...numbers.map((n) => desk.created(`payment${n}`, txidOf(n), of(n))));
    for (const n of numbers) desk.institution.received.push(receivedPix(`E${n}`, txidOf(n), 500, T(n)));
  };
  const settle = (...numbers: readonly number[]) =>
    desk.project(...numbers.map((n) => desk.settled(`payment${n}`, `E${n}`, 500, T(n))));

  it('finds every payment of an hour without callbacks, at its payment time, until it is settled', async () => {
    await dropped(60);
    await compare();
    expect(desk.notified).to.deep.equal(Array.from({ length: 60 }, (_, n) => `E${n}`));
    expect(await desk.findings()).to.deep.equal(desk.notified.map((id) => `missing_here ${id}`));
    const before = await desk.report('2026-11-20');
    expect([before.difference, before.received, before.closing]).to.deep.equal([30_000, 30_000, 0]);
    expect(before.findings[7]).to.deep.equal({
      ...{ kind: 'missing_here', endToEndId: 'E7', txid: txidOf(7), charge: 'ch_payment7', expected: null, found: 500 },
    });
    await settle(...Array.from({ length: 60 }, (_, n) => n));
    await compare();
    expect([await desk.findings(), desk.notified.length]).to.deep.equal([[], 60]);
    const after = await desk.report('2026-11-20');
    expect([after.difference, after.closing, after.fees]).to.deep.equal([0, 30_000, 600]);
    expect(after.findings.map(({ expected, found, resolved }) => [expected, found, resolved?.by])).to.deep.equal(
      Array.from({ length: 60 }, () => [500, 500, 'reconciliation']),
    );
  });

  it('of a connection shared by 2,000 accounts has no findings if everything agrees', async () => {
    await dropped(2_000, (n) => `account${n}` as AccountId);
    await settle(...Array.from({ length: 2_000 }, (_, n) => n));
    await compare();
    expect([await desk.findings(true), desk.alerts, desk.notified]).to.deep.equal([[], [], []]);
  });

  it('resumes after a crash at any page and adds nothing twice', async () => {
    await dropped(7);
    desk.institution.pageSize = 2;
    desk.institution.received[3] = receivedPix('E3', null, 500, T(3));
    const expected = ['E0', 'E1', 'E2', 'E4', 'E5', 'E6'];
    for (let dies = 0; ; dies += 1) {
      let left = dies;
      desk.institution.before = () => {
        if (left-- === 0) throw new Error('killed');
        return undefined;
      };
      const isKilled = await desk.compare(DAY, T(3_600)).then(
        () => false,
        () => true,
      );
      if (!isKilled) break;
    }
    expect(desk.notified).to.deep.equal(expected);
    expect(await desk.findings()).to.deep.equal([
      ...['E0', 'E1', 'E2'].map((id) => `missing_here ${id}`),
      'unmatched E3',
      ...['E4', 'E5', 'E6'].map((id) => `missing_here ${id}`),
    ]);
    const { rows } = await pool.query(
      'SELECT count(*)::int AS n FROM operations.provider_items WHERE connection_id = $1',
      [desk.connectionId],
    );
    expect(rows).to.deep.equal([{ n: 7 }]);
    // Pages that were saved are not requested again.
    expect(desk.institution.calls.filter((call) => call === 'received 0').length).to.equal(2);
  });

  it('has the same result when run by two processes concurrently', async () => {
    await dropped(7);
    desk.institution.pageSize = 2;
    const look = await desk.look(DAY, DAY_END);
    const run = async (): Promise<string> => {
      for (let now = await takeStep(work(), look); ; now = await takeStep(work(), now))
        if (now === null) return 'left to the other';
        else if (now.step === 'done') return 'done';
    };
    expect((await Promise.all([run(), run()])).sort()).to.deep.equal(['done', 'left to the other']);
    expect(await desk.findings()).to.deep.equal(Array.from({ length: 7 }, (_, n) => `missing_here E${n}`));
    expect(desk.alerts.map(({ reference }) => reference).sort()).to.deep.equal(
      Array.from({ length: 7 }, (_, n) => `E${n}`),
    );
  });

  it('alerts once about a finding, and again if its amount changes after it was resolved', async () => {
    desk.institution.received.push(receivedPix('E0', null, 500, T(0)));
    await compare();
    await compare();
    expect(desk.alerts.map(({ kind }) => kind)).to.deep.equal(['unmatched']);
    const [finding] = desk.alerts;
    const by = { actor: 'operator:ana', requestId: null };
    const done = await desk.operate().resolveFinding(finding?.id ?? '', ' Devolvido no app. ', by);
    expect(isRejection(done) ? done : done.resolved?.reason).to.equal('Devolvido no app.');
    expect(await desk.operate().resolveFinding(finding?.id ?? '', 'again', by)).to.include({ code: 'not_found' });
    await compare();
    expect([await desk.findings(), desk.alerts.length]).to.deep.equal([[], 1]);
    const { findings, difference } = await desk.report('2026-11-20');
    expect([difference, findings[0]?.resolved?.by]).to.deep.equal([500, 'operator:ana']);
    desk.institution.received[0] = receivedPix('E0', null, 700, T(0));
    await compare();
    expect([await desk.findings(), desk.alerts.length]).to.deep.equal([['unmatched E0'], 2]);
  });

  it('waits an hour for a late list before it alerts', async () => {
    const paidAt = fromMillis(Date.now() - 30 * MINUTE_MS);
    const span = [addMillis(paidAt, -HOUR_MS), addMillis(paidAt, HOUR_MS)] as const;
    await desk.project(desk.created('payment0', txidOf(0)), desk.settled('payment0', 'E0', 500, paidAt));
    await desk.compare(...span);
    expect([await desk.findings(), desk.alerts]).to.deep.equal([['missing_there E0'], []]);
    desk.institution.received.push(receivedPix('E0', txidOf(0), 500, paidAt));
    await desk.compare(...span);
    expect([await desk.findings(), desk.alerts]).to.deep.equal([[], []]);
  });

  it('distinguishes Quita’s own returns from others, and looks up returns of payments from other days', async () => {
    const before = addMillis(DAY, -DAY_MS);
    await desk.project(desk.created('payment0', txidOf(0)), desk.settled('payment0', 'E0', 500, before));
    await desk.project(...desk.refunded('payment0', 'refund0', 200, T(60)));
    const own = returnOf('refund0', 200, T(50));
    desk.institution.received.push(receivedPix('E0', txidOf(0), 500, before, [own]));
    await compare();
    expect([desk.institution.calls.includes('find E0'), await desk.findings()]).to.deep.equal([true, []]);
    const foreign = returnOf('app', 100, T(70));
    desk.institution.received[0] = receivedPix('E0', txidOf(0), 500, before, [own, foreign]);
    await desk.compare(before, DAY_END);
    expect(await desk.findings()).to.deep.equal(['foreign_return E0/app']);
    expect((await desk.report('2026-11-20')).findings).to.deep.equal([
      { kind: 'foreign_return', endToEndId: 'E0', txid: txidOf(0), charge: 'ch_payment0', expected: null, found: -100 },
    ]);
    // Once recorded, the return agrees with the ledger but still waits for an operator (V10).
    const data = {
      providerPaymentId: 'E0',
      id: 'app',
      returnId: null,
      nature: 'ordinary',
      owner: 'merchant',
      fromHold: 0,
    };
    const moved = { amount: 100, currency: 'BRL', at: addMillis(T(71), DAY_MS) };
    const outside = { type: 'TransactionReturnedOutside', data: { ...data, ...moved } } as unknown as PaymentEvent;
    await desk.project(['payment0', outside]);
    await desk.compare(before, DAY_END);
    const report = await desk.report('2026-11-20');
    expect([
      report.difference,
      report.findings.map(({ kind, expected, found }) => [kind, expected, found]),
    ]).to.deep.equal([0, [['foreign_return', -100, -100]]]);
    desk.institution.received[0] = receivedPix('E0', txidOf(0), 500, before, [{ ...own, status: 'refused' }, foreign]);
    await desk.compare(before, DAY_END);
    expect(await desk.findings()).to.deep.equal(['return_state E0/refund0', 'foreign_return E0/app']);
  });

  it('finds a payment that the institution no longer lists or lists with another amount', async () => {
    await desk.project(desk.created('payment0', txidOf(0)), desk.settled('payment0', 'E0', 500, T(0)));
    desk.institution.received.push(receivedPix('E0', txidOf(0), 500, T(0)));
    await compare();
    expect(await desk.findings()).to.deep.equal([]);
    desk.institution.received.length = 0;
    await compare();
    expect(await desk.findings()).to.deep.equal(['missing_there E0']);
    desk.institution.received.push(receivedPix('E0', txidOf(0), 700, T(0)));
    await compare();
    expect(await desk.findings()).to.deep.equal(['amount E0']);
    const { difference, findings } = await desk.report('2026-11-20');
    expect([difference, findings.find(({ kind }) => kind === 'amount')]).to.deep.equal([
      200,
      { kind: 'amount', endToEndId: 'E0', txid: txidOf(0), charge: 'ch_payment0', expected: 500, found: 700 },
    ]);
  });

  it('finds a payment that was credited to another charge than the institution’s', async () => {
    await desk.project(desk.created('payment0', txidOf(0)), desk.settled('payment0', 'E0', 500, T(0)));
    await desk.project(desk.created('payment1', txidOf(1)));
    desk.institution.received.push(receivedPix('E0', txidOf(1), 500, T(0)));
    await compare();
    expect([await desk.findings(), (await desk.report('2026-11-20')).difference]).to.deep.equal([['charge E0'], 0]);
  });

  describe('of two connections that name the same Pix key', () => {
    let other: ReconciliationDesk;
    beforeEach(() => {
      other = new ReconciliationDesk(pool, `${desk.connectionId}-new` as ConnectionId);
    });
    const run = async (one: ReconciliationDesk) => {
      const all = { ...desk.needs, connection: one.connection, takeReturns: [] };
      for (let look = await one.look(DAY, DAY_END); look.step !== 'done'; )
        look = (await takeStep(all, look)) ?? expect.fail();
    };
    /** Both list the same account. */
    const bothCompare = async () => {
      other.institution.received.splice(0, Infinity, ...desk.institution.received);
      other.institution.sent.splice(0, Infinity, ...desk.institution.sent);
      await Promise.all([desk, other].map(run));
    };
    const differences = () =>
      Promise.all([desk, other].map(async (one) => (await one.report('2026-11-20')).difference));

    it('finds nothing about payments, returns and payouts that the other one recorded', async () => {
      await desk.project(desk.created('payment0', txidOf(0)), desk.settled('payment0', 'E0', 500, T(0)));
      await desk.project(...desk.refunded('payment0', 'refund0', 200, T(50)));
      await desk.project(desk.requestedPayout('payout0', 300, T(80)), desk.paidPayout('payout0', 300, T(81)));
      desk.institution.received.push(receivedPix('E0', txidOf(0), 500, T(0), [returnOf('refund0', 200, T(50))]));
      desk.institution.sent.push({ id: 'payout0', endToEndId: 'P0', status: 'done', amount: 300 as never, at: T(81) });
      await bothCompare();
      expect([await desk.findings(true), await other.findings(true), desk.notified]).to.deep.equal([[], [], []]);
      expect(desk.alerts).to.deep.equal([]);
      const { received, returned, paidOut, closing } = await other.report('2026-11-20');
      expect([await differences(), received, returned, paidOut, closing]).to.deep.equal([[0, 0], 0, 0, 0, 0]);
    });

    it('credits a payment that neither recorded once, through its own connection', async () => {
      await desk.project(desk.created('payment0', txidOf(0)));
      desk.institution.received.push(receivedPix('E0', txidOf(0), 500, T(0)));
      await bothCompare();
      expect(desk.notified).to.deep.equal(['E0']);
      expect([await desk.findings(), await other.findings()]).to.deep.equal([['missing_here E0'], ['missing_here E0']]);
      await settle(0);
      await bothCompare();
      expect([await desk.findings(), await other.findings(), desk.notified]).to.deep.equal([[], [], ['E0']]);
      expect(await differences()).to.deep.equal([0, 0]);
    });

    it('leaves payments to a key that moved to the other one, except those of its own charges', async () => {
      await desk.project(desk.created('payment0', txidOf(0)), desk.settled('payment0', 'E0', 500, T(0)));
      const all = [receivedPix('E0', txidOf(0), 500, T(0)), receivedPix('E1', txidOf(9), 300, T(1))];
      other.institution.received.push(...all);
      desk.institution.received.push(...all.map((one) => ({ ...one, hasMovedKey: true as const })));
      await Promise.all([desk, other].map(run));
      expect([await desk.findings(), await other.findings()]).to.deep.equal([[], ['unmatched E1']]);
      expect(await differences()).to.deep.equal([0, 300]);
    });

    it('finds a different amount, and a return that only the enabled connection lists', async () => {
      await desk.project(desk.created('payment0', txidOf(0)), desk.settled('payment0', 'E0', 500, T(0)));
      await desk.project(desk.created('payment1', txidOf(1)), desk.settled('payment1', 'E1', 500, T(1)));
      const back = returnOf('app', 100, T(60));
      desk.institution.received.push(receivedPix('E0', txidOf(0), 700, T(0)));
      desk.institution.received.push(receivedPix('E1', txidOf(1), 500, T(1), [back]));
      other.institution.received.push(...desk.institution.received);
      await run(other);
      expect(await other.findings()).to.deep.equal(['missing_here E0', 'foreign_return E1/app']);
    });
  });

  it('starts the job of a refund that the institution executed and Quita has not recorded', async () => {
    await desk.project(desk.created('payment0', txidOf(0)), desk.settled('payment0', 'E0', 500, T(0)));
    await desk.project(...desk.refunded('payment0', 'refund0', 200, null));
    desk.institution.received.push(receivedPix('E0', txidOf(0), 500, T(0), [returnOf('refund0', 200, T(50))]));
    await compare();
    expect(await desk.findings()).to.deep.equal(['return_state E0/refund0']);
    expect([...new Set(desk.notified)]).to.deep.equal(['refund {"paymentId":"payment0","refundId":"refund0"}']);
  });

  it('counts a return for a lost dispute once if the dispute was already posted (V10)', async () => {
    await desk.project(desk.created('payment0', txidOf(0)), desk.settled('payment0', 'E0', 500, T(0)));
    const moved = { amount: 500, currency: 'BRL', at: T(60) };
    const made = {
      providerPaymentId: 'E0',
      id: 'app',
      returnId: null,
      nature: 'ordinary',
      owner: 'merchant',
      fromHold: 0,
    };
    await desk.project(
      [
        'payment0',
        { type: 'TransactionDisputeReturned', data: { caseId: 'case0', ...moved } } as unknown as PaymentEvent,
      ],
      ['payment0', { type: 'TransactionReturnedOutside', data: { ...made, ...moved } } as unknown as PaymentEvent],
      [
        'payment0',
        {
          type: 'TransactionDisputeReturnCounted',
          data: { caseId: 'case0', ...moved, posted: 500 },
        } as unknown as PaymentEvent,
      ],
    );
    desk.institution.received.push(receivedPix('E0', txidOf(0), 500, T(0), [returnOf('app', 500, T(50))]));
    await compare();
    const { difference, closing, findings } = await desk.report('2026-11-20');
    expect([difference, closing]).to.deep.equal([0, 0]);
    // The ruling’s posting and its reversal cancel each other out.
    expect(findings.map(({ kind, expected, found }) => [kind, expected, found])).to.have.deep.members([
      ['foreign_return', -500, -500],
      ['missing_there', -500, null],
      ['missing_there', 500, null],
    ]);
  });

  it('matches equal returns of a Pix with one dispute each, at once', async () => {
    await desk.project(desk.created('payment0', txidOf(0)), desk.settled('payment0', 'E0', 900, T(0)));
    const data = { amount: 200, currency: 'BRL', at: T(60) };
    for (const caseId of ['case0', 'case1', 'case2'])
      await desk.project([
        'payment0',
        { type: 'TransactionDisputeReturned', data: { ...data, caseId } } as unknown as PaymentEvent,
      ]);
    const made = ['med0', 'med1', 'med2'].map((id) => returnOf(id, 200, T(50), { nature: 'medFraud' }));
    desk.institution.received.push(receivedPix('E0', txidOf(0), 900, T(0), made.slice(0, 2)));
    await compare();
    expect(await desk.findings()).to.deep.equal(['missing_there E0/case/case2/4']);
    expect(desk.alerts.map(({ kind }) => kind)).to.deep.equal(['missing_there']);
    desk.institution.received.splice(0, 1, receivedPix('E0', txidOf(0), 900, T(0), made));
    await compare();
    expect([await desk.findings(), desk.alerts.length]).to.deep.equal([[], 1]);
  });

  it('distinguishes returns of two Pix with the same id that were made outside Quita', async () => {
    const returned = (n: number) => {
      const data = { providerPaymentId: `E${n}`, id: '1', returnId: null, nature: 'ordinary', owner: 'merchant' };
      const money = { fromHold: 0, amount: 100, currency: 'BRL', at: T(61) };
      return { type: 'TransactionReturnedOutside', data: { ...data, ...money } } as unknown as PaymentEvent;
    };
    for (const n of [0, 1]) {
      await desk.project(desk.created(`payment${n}`, txidOf(n)), desk.settled(`payment${n}`, `E${n}`, 500, T(n)));
      desk.institution.received.push(receivedPix(`E${n}`, txidOf(n), 500, T(n), [returnOf('1', 100, T(60))]));
      await desk.project([`payment${n}`, returned(n)]);
    }
    await compare();
    const { difference, closing } = await desk.report(DAY.slice(0, 10));
    expect([difference, closing]).to.deep.equal([0, 800]);
    expect(await desk.findings()).to.have.members(['foreign_return E0/1', 'foreign_return E1/1']);
    desk.institution.received.splice(1, 1, receivedPix('E1', txidOf(1), 500, T(1)));
    await pool.query("DELETE FROM operations.provider_items WHERE connection_id = $1 AND pix = 'E1'", [
      desk.connectionId,
    ]);
    for (let n = 0; n < 2; n++) {
      await compare();
      expect(await desk.findings()).to.have.members(['foreign_return E0/1', 'missing_there E1/outside/1']);
    }
  });

  it('finds a return by the bank that was made after the period of its payment', async () => {
    await desk.project(desk.created('payment0', txidOf(0)), desk.settled('payment0', 'E0', 500, T(0)));
    const foreign = returnOf('app', 100, addMillis(T(0), 3 * DAY_MS));
    desk.institution.received.push(receivedPix('E0', txidOf(0), 500, T(0), [foreign]));
    await desk.compare(DAY, T(3_600));
    expect(await desk.findings()).to.deep.equal(['foreign_return E0/app']);
  });

  it('accepts the return of the rest of a Pix after a partial return outside Quita (V10)', async () => {
    const pix = receivedPix('E0', txidOf(0), 1_000, T(0));
    const about = { providerPaymentId: 'E0', currency: 'BRL', at: T(60) };
    const rejected = { ...about, incoming: pix.incoming, reason: 'wrong_amount', returnId: 'own' };
    const outside = {
      ...about,
      id: 'app',
      returnId: null,
      nature: 'ordinary',
      owner: 'payer',
      fromHold: 0,
      amount: 400,
    };
    await desk.project(
      desk.created('payment0', txidOf(0)),
      ['payment0', { type: 'TransactionPaymentRejected', data: rejected } as unknown as PaymentEvent],
      ['payment0', { type: 'TransactionReturnedOutside', data: outside } as unknown as PaymentEvent],
      ['payment0', { type: 'TransactionPaymentReturned', data: { ...about, amount: 600 } } as unknown as PaymentEvent],
    );
    const returns = [returnOf('app', 400, T(60)), returnOf('own', 600, T(60))];
    desk.institution.received.push({ ...pix, returns });
    await compare();
    const { difference, closing } = await desk.report('2026-11-20');
    // The return outside Quita waits for an operator, whatever its amount.
    expect([difference, closing, await desk.findings()]).to.deep.equal([0, 0, ['foreign_return E0/app']]);
  });

  for (const [name, late] of [
    ['while its retry is under way', []],
    [
      'after the money was written off',
      [
        ['TransactionReturnRefused', {}],
        ['TransactionHeldWrittenOff', {}],
      ],
    ],
  ] as const)
    it(`posts the refused return that the institution made after all, ${name}`, async () => {
      const pix = receivedPix('E0', txidOf(0), 500, T(0));
      const event = (type: string, data: object) =>
        ['payment0', { type, data: { providerPaymentId: 'E0', currency: 'BRL', amount: 500, ...data } }] as unknown as [
          string,
          PaymentEvent,
        ];
      await desk.project(
        desk.created('payment0', txidOf(0)),
        event('TransactionPaymentRejected', { incoming: pix.incoming, reason: 'wrong_amount', returnId: 'first' }),
        event('TransactionReturnRefused', { reason: 'no', at: T(10) }),
        event('TransactionReturnRetried', { returnId: 'second', by: 'operator', at: T(20) }),
        ...late.map(([type, data]) => event(type, { ...data, reason: 'no', by: 'operator', at: T(25) })),
        late.length === 0
          ? event('TransactionPaymentReturned', { returnId: 'first', at: T(30) })
          : event('TransactionReturnConfirmedLate', { returnId: 'first', id: 'E0', fee: 0, at: T(30) }),
      );
      const returns = [returnOf('first', 500, T(30)), returnOf('second', 500, T(40), { status: 'refused' })];
      desk.institution.received.push({ ...pix, returns });
      await compare();
      const { difference, closing } = await desk.report('2026-11-20');
      expect([difference, closing, await desk.findings()]).to.deep.equal([0, 0, []]);
    });

  it('continues if a payment can’t accept a return yet, and retries until it can (V10)', async () => {
    await desk.project(desk.created('payment0', txidOf(0)), desk.settled('payment0', 'E0', 500, T(0)));
    await desk.project(desk.created('payment1', txidOf(1)));
    const med = returnOf('med', 500, T(50), { nature: 'medFraud' });
    desk.institution.received.push(receivedPix('E0', txidOf(0), 500, T(0), [med]));
    desk.institution.received.push(receivedPix('E1', txidOf(1), 500, T(60)));
    let isRefunding = true;
    const taken: string[] = [];
    const take: TakeReturns = async ({ paymentId }, { returns }) => {
      if (isRefunding) throw new UnknownAtProvider('payment0 for its return');
      taken.push(...returns.map(({ id }) => `${paymentId} ${id}`));
    };
    const compareFrom = async (from: Timestamp) => {
      for (let look = await desk.look(from, addMillis(from, HOUR_MS)); look.step !== 'done'; )
        look = (await takeStep({ ...work(), takeReturns: [take] }, look)) as typeof look;
    };
    await compareFrom(DAY);
    expect([desk.notified, await desk.findings()]).to.deep.equal([
      ['E1'],
      ['foreign_return E0/med', 'missing_here E1'],
    ]);
    isRefunding = false;
    await compareFrom(addMillis(DAY, DAY_MS));
    expect(taken).to.deep.equal(['payment0 med']);
    desk.institution.before = (call) => (call === 'find E0' ? 'unknown' : undefined);
    await compareFrom(addMillis(DAY, 2 * DAY_MS));
    expect(taken).to.deep.equal(['payment0 med']);
  });

  it('looks up each payout if the institution lists none', async () => {
    desk.institution.listsSent = false;
    await desk.project(desk.requestedPayout('payout0', 300, T(0)), desk.paidPayout('payout0', 300, T(1)));
    const answers: unknown[] = [null, { kind: 'confirmed', endToEndId: null }];
    const rail = { find: async () => ({ kind: 'known', value: answers.shift() }) };
    const payout = { status: 'paid', terms: { payoutId: 'payout0', amount: 300 } };
    const asking = {
      ...work(),
      commands: { load: async () => ({ state: payout, revision: 1 }) } as never,
      connection: { ...desk.connection, rail } as never,
    };
    for (const expected of [['missing_there payout0'], []]) {
      for (let look = await desk.look(DAY, DAY_END); look.step !== 'done'; )
        look = (await takeStep(asking, look)) as typeof look;
      expect(await desk.findings()).to.deep.equal(expected);
    }
    expect(answers).to.deep.equal([]);
  });

  it('assigns 23:59:59.999 in São Paulo to the day and the next millisecond to the next day', async () => {
    await dropped(2);
    const paid = [DAY_END, addMillis(DAY_END, 1)] as const;
    for (const [n, at] of paid.entries()) desk.institution.received[n] = receivedPix(`E${n}`, txidOf(n), 500, at);
    await desk.project(...paid.map((at, n) => desk.settled(`payment${n}`, `E${n}`, 500, at)));
    await desk.compare(DAY, addMillis(DAY, 2 * DAY_MS));
    const days = await Promise.all(['2026-11-19', '2026-11-20', '2026-11-21'].map((day) => desk.report(day)));
    expect(
      days.map(({ opening, received, closing, difference }) => [opening, received, closing, difference]),
    ).to.deep.equal([
      [0, 0, 0, 0],
      [0, 500, 500, 0],
      [500, 500, 1_000, 0],
    ]);
  });

  it('reads payments dated 90 s in the future, and retries later or on request if the bank does not answer', async () => {
    await desk.project(desk.created('payment0', txidOf(0)));
    desk.institution.received.push(receivedPix('E0', txidOf(0), 500, fromMillis(Date.now() + 90_000)));
    desk.institution.before = () => 'unknown';
    const run = () => reconcileConnection(desk.needs, desk.connection, []);
    await run();
    const { runs } = desk.needs;
    const state = await runs.stateOf(desk.connectionId);
    expect([state.comparedAt, state.retryAt !== null, state.failures]).to.deep.equal([null, true, 1]);
    desk.institution.before = () => undefined;
    const calls = desk.institution.calls.length;
    await run();
    expect(desk.institution.calls.length).to.equal(calls);
    await runs.request(desk.connectionId);
    await run();
    expect([desk.notified, (await runs.stateOf(desk.connectionId)).failures]).to.deep.equal([['E0'], 0]);
  });

  it('asks a bank without an answer once per request', async () => {
    const { runs } = desk.needs;
    const run = () => reconcileConnection(desk.needs, desk.connection, []);
    desk.institution.before = () => 'unknown';
    for (let n = 0; n < 2; n++) await run();
    await runs.request(desk.connectionId);
    const calls = desk.institution.calls.length;
    for (let n = 0; n < 3; n++) await run();
    expect([desk.institution.calls.length - calls, (await runs.stateOf(desk.connectionId)).failures]).to.deep.equal([
      1, 2,
    ]);
  });

  it('rejects a report for an unknown connection or an invalid day', async () => {
    const { reportReconciliation } = desk.operate();
    const report = (id: string, day: string) => reportReconciliation(id as ConnectionId, day);
    expect(await report('0'.repeat(26), '2026-11-20')).to.deep.include({ code: 'not_found' });
    expect(await report('0'.repeat(26), '2026-02-30')).to.deep.include({ code: 'invalid_request' });
  });

  it('waits for a requested comparison even if the bank did not answer before', async () => {
    const { runs } = desk.needs;
    const compare = () => reconcileConnection(desk.needs, desk.connection, []);
    const requestedRun = async () =>
      operateReconciliation({
        ...desk.operateNeeds,
        connections: { all: async () => [{ ...desk.connection, status: 'enabled' }] as never },
        // The process compares while the operator waits.
        stopwatch: { ...systemStopwatch, pause: compare },
      }).runReconciliation(desk.connectionId, MINUTE_MS);
    desk.institution.before = () => 'unknown';
    await compare();
    const failed = await requestedRun();
    expect(failed).to.deep.include({ isDone: false });
    const { retryAt, failures } = await runs.stateOf(desk.connectionId);
    expect([failures, 'connections' in failed && failed.connections[0]?.retryAt]).to.deep.equal([2, retryAt]);
    desk.institution.before = () => undefined;
    const done = await requestedRun();
    expect(done).to.deep.include({ isDone: true });
    expect('connections' in done && done.connections[0]?.retryAt).to.equal(null);
  });

  it('alerts from the third consecutive failure until a comparison succeeds', async () => {
    const { runs } = desk.needs;
    const run = async () => {
      await runs.request(desk.connectionId);
      await reconcileConnection(desk.needs, desk.connection, []);
    };
    desk.institution.before = () => 'unknown';
    for (let n = 0; n < 4; n++) await run();
    expect(desk.stalled.map((one) => one.replace(/from .*/, 'from …'))).to.deep.equal([
      '3 payments received from …',
      '4 payments received from …',
    ]);
    desk.institution.before = () => undefined;
    await run();
    desk.institution.before = () => 'unknown';
    for (let n = 0; n < 2; n++) await run();
    expect(desk.stalled).to.have.length(2);
  });

  it('skips a single movement that the bank does not answer about after three failures', async () => {
    const { runs } = desk.needs;
    const run = async () => {
      await runs.request(desk.connectionId);
      await reconcileConnection(desk.needs, desk.connection, []);
      return (await runs.stateOf(desk.connectionId)).failures;
    };
    const recently = fromMillis(Date.now() - HOUR_MS);
    const before = addMillis(recently, -3 * DAY_MS);
    for (const n of [0, 1]) {
      await desk.project(desk.created(`payment${n}`, txidOf(n)), desk.settled(`payment${n}`, `E${n}`, 500, before));
      await desk.project(...desk.refunded(`payment${n}`, `refund${n}`, 200, recently));
    }
    desk.institution.received.push(receivedPix('E1', txidOf(1), 500, before, [returnOf('refund1', 200, recently)]));
    const isSilentAbout = (call: string) => (call === 'find E0' ? 'unknown' : undefined);
    desk.institution.before = isSilentAbout;
    for (const failures of [1, 2, 3]) expect(await run()).to.equal(failures);
    desk.institution.before = () => 'unknown'; // The bank now answers nothing at all.
    expect(await run()).to.equal(4);
    desk.institution.before = isSilentAbout;
    expect([await run(), await desk.findings()]).to.deep.equal([0, ['missing_there E0/refund0']]);
  });

  it('passes over items that can’t be read after three failures, and shows each until it can be read', async () => {
    const { runs } = desk.needs;
    const run = async () => {
      await runs.request(desk.connectionId);
      await reconcileConnection(desk.needs, desk.connection, []);
      return [(await runs.stateOf(desk.connectionId)).failures, (await desk.findings()).toSorted()] as const;
    };
    const recently = fromMillis(Date.now() - HOUR_MS);
    for (const n of [0, 1, 2]) {
      await desk.project(desk.created(`payment${n}`, txidOf(n)));
      desk.institution.received.push(receivedPix(`E${n}`, txidOf(n), 500, recently));
    }
    await desk.project(desk.settled('payment0', 'E0', 500, recently), desk.settled('payment1', 'E1', 500, recently));
    desk.institution.sent.push({ id: 'P1', endToEndId: null, status: 'done', amount: 50 as never, at: recently });
    for (const id of ['E1', 'E2', 'P1']) desk.institution.unreadable.add(id);
    for (const failures of [1, 2, 3]) expect(await run()).to.deep.equal([failures, []]);
    expect(desk.stalled.map((one) => one.replace(/from .*?: /, 'from …: '))).to.deep.equal([
      "3 payments received from …: E1, E2 can't be read",
    ]);
    const shown = ['amount E1', 'unmatched E2', 'unmatched P1'];
    expect(await run()).to.deep.equal([0, shown]);
    expect(await run()).to.deep.equal([1, shown]);
    expect(desk.notified).to.deep.equal([]);
    desk.institution.unreadable.clear();
    expect(await run()).to.deep.equal([0, ['missing_here E2', 'unmatched P1']]);
    expect(desk.notified).to.deep.equal(['E2']);
  });

  it('passes over a payment that fails after three failures, and alerts', async () => {
    const { runs } = desk.needs;
    const recently = fromMillis(Date.now() - HOUR_MS);
    await desk.project(desk.created('payment0', txidOf(0)), desk.settled('payment0', 'E0', 500, recently));
    await desk.project(desk.created('payment1', txidOf(1)));
    desk.institution.received.push(receivedPix('E0', txidOf(0), 500, recently, [returnOf('app', 100, recently)]));
    desk.institution.received.push(receivedPix('E1', txidOf(1), 500, recently));
    const take = () => Promise.reject(new StreamUnreadable('payment-payment0 can’t be read'));
    const run = async () => {
      await runs.request(desk.connectionId);
      await reconcileConnection(desk.needs, desk.connection, [take]).catch((error: unknown) =>
        expect(error).to.be.instanceOf(StreamUnreadable),
      );
      return [(await runs.stateOf(desk.connectionId)).failures, desk.notified];
    };
    for (const failures of [1, 2, 3]) expect(await run()).to.deep.equal([failures, []]);
    expect(desk.stalled).to.deep.equal(['3 payment-payment0 can’t be read']);
    expect(await run()).to.deep.equal([0, ['E1']]);
    expect(await desk.findings()).to.have.members(['foreign_return E0/app', 'missing_here E1']);
  });

  it('continues after the database’s clock was ahead', async () => {
    const { runs } = desk.needs;
    const run = () => reconcileConnection(desk.needs, desk.connection, []);
    await run();
    const later = "now() + interval '1 day'";
    for (const text of [
      `UPDATE operations.reconciliation_runs SET compared_at = ${later}, retry_at = ${later}, failures = 1`,
      `INSERT INTO operations.reconciliation_requests VALUES ('${desk.connectionId}', ${later})`,
      `UPDATE operations.reconciliation_looks SET until = ${later}, target = ${later}`,
    ])
      await pool.query(`${text} ${text.startsWith('UPDATE') ? `WHERE connection_id = '${desk.connectionId}'` : ''}`);
    await desk.project(desk.created('payment0', txidOf(0)));
    desk.institution.received.push(receivedPix('E0', txidOf(0), 500, fromMillis(Date.now() - MINUTE_MS)));
    expect(await runs.stateOf(desk.connectionId)).to.include({ comparedAt: null, requestedAt: null, retryAt: null });
    await run();
    expect(desk.notified).to.deep.equal(['E0']);
    const now = await runs.now();
    expect((await runs.stateOf(desk.connectionId)).comparedAt! <= now).to.equal(true);
    const looks = await desk.needs.looks.of(desk.connectionId);
    expect(looks.filter(({ until }) => until > now)).to.deep.equal([]);
    const calls = desk.institution.calls.length;
    await run();
    expect(desk.institution.calls.length).to.equal(calls); // The request of the future asks for nothing more.
  });

  it('asks about twenty unrecorded returns of old findings in each step', async () => {
    for (let n = 0; n < 45; n++)
      desk.institution.received.push(receivedPix(`E${n}`, null, 500, T(n), [returnOf('1', 500, T(n))]));
    await desk.compare(DAY, T(3_600));
    expect(await desk.findings()).to.have.length(90);
    const asked: number[] = [];
    for (let look = await desk.look(DAY, T(3_600)); look.step !== 'done'; ) {
      const before = desk.institution.calls.length;
      look = (await takeStep(work(), look))!;
      if (look.step === 'open' && look.cursor !== null)
        asked.push(desk.institution.calls.slice(before).filter((call) => call.startsWith('find ')).length);
    }
    expect(asked).to.deep.equal([20, 20, 5]);
    expect(await desk.findings()).to.have.length(90);
  });

  it('does not pass over a page with more than ten items that can’t be read', async () => {
    const work = { ...desk.needs, connection: desk.connection, takeReturns: [], passesOver: true };
    await dropped(11);
    const look = await desk.look(DAY, DAY_END);
    for (let n = 0; n < 11; n++) desk.institution.unreadable.add(`E${n}`);
    const listed = Array.from({ length: 10 }, (_, n) => `E${n}`).join(', ');
    await takeStep(work, look).then(
      () => expect.fail(),
      (error: Error) => expect(error.message).to.equal(`payments received from ${DAY}: ${listed} can't be read`),
    );
    desk.institution.unreadable.delete('E3');
    expect(await takeStep(work, look)).to.include({ step: 'sent' });
  });

  it('overlaps the previous period by an hour, and requests a whole day if the saved position is in the future', async () => {
    const ago = (ms: number): Timestamp => fromMillis(Date.now() - ms);
    const run = () => reconcileConnection(desk.needs, desk.connection, []);
    /** Ends the latest period this many milliseconds ago, and makes the next comparison due. */
    const endedAgo = async (ms: number): Promise<void> => {
      const about = [desk.connectionId, ago(ms)];
      await pool.query(
        'UPDATE operations.reconciliation_looks SET until = $2, target = $2 WHERE connection_id = $1',
        about,
      );
      await pool.query(
        "UPDATE operations.reconciliation_runs SET compared_at = now() - interval '11 minutes' WHERE connection_id = $1",
        [desk.connectionId],
      );
    };
    await desk.project(desk.created('payment0', txidOf(0)), desk.created('payment1', txidOf(1)));
    await run();
    desk.institution.received.push(receivedPix('E0', txidOf(0), 500, ago(40 * MINUTE_MS)));
    await endedAgo(11 * MINUTE_MS);
    await run();
    expect(desk.notified).to.deep.equal(['E0']);
    desk.institution.received.push(receivedPix('E1', txidOf(1), 500, ago(5 * HOUR_MS)));
    await endedAgo(-3 * HOUR_MS);
    await run();
    expect(desk.notified).to.deep.equal(['E0', 'E1']);
  });
});
