// Random histories of disputes, with refunds running into them and what happens to a case told to its payment late, twice, or at once:
// no money is made or lost, and what shows agrees with a model of a few numbers (Q1–Q4).
import { expect } from 'chai';
import fc from 'fast-check';
import { acceptCase, appealCase, openCase, reviewCase, ruleCase } from '../../domain/dispute/decisions.ts';
import { type MedCaseEvent, type MedCaseState, medCase } from '../../domain/dispute/medCase.ts';
import { caseChange } from '../../domain/dispute/snapshot.ts';
import { type Decision, fold } from '../../domain/kernel/decider.ts';
import type { MedCaseId, RefundId } from '../../domain/kernel/ids.ts';
import { toMinor } from '../../domain/kernel/money.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { journalEntry } from '../../domain/ledger/postings.ts';
import { openDispute, recordCaseStep } from '../../domain/payment/dispute.ts';
import { assertExists, type PaymentEvent, type PaymentState, payment } from '../../domain/payment/payment.ts';
import { completeRefund, releaseRefund, reserveRefund } from '../../domain/payment/refund.ts';
import { publicStatus } from '../../domain/presentation/status.ts';
import { caseTerms } from '../support/medCases.ts';
import { at, created, disputeReport, issued, LOCKED_TO, returned, sentBack, settled } from '../support/samples.ts';

const PAID = 12_345;
/** What of it reaches the wallet. */
const NET = 12_212;
const AT = at('17:00:00');

/** What a merchant's books must show, in plain numbers. */
interface Model {
  refunds: { amount: number; state: 'pending' | 'completed' | 'failed' }[];
  cases: { held: number; mismatch: boolean; end: 'open' | 'returned' | 'gone' }[];
}

class World {
  paymentState: PaymentState;
  readonly postings = new Map<string, number>();
  readonly cases: { id: MedCaseId; state: MedCaseState; events: MedCaseEvent[]; reports: number }[] = [];
  readonly model: Model = { refunds: [], cases: [] };

  constructor(history: readonly PaymentEvent[]) {
    this.paymentState = payment.initial;
    for (const event of history) this.#apply(event);
  }

  #apply(event: PaymentEvent): void {
    this.paymentState = payment.evolve(this.paymentState, event);
    for (const { account, amount } of journalEntry(event)?.postings ?? [])
      this.postings.set(account, (this.postings.get(account) ?? 0) + amount);
  }
  onPayment(decide: Decision<PaymentState, PaymentEvent, unknown>): boolean {
    const decided = decide(this.paymentState);
    if (isRejection(decided)) return false;
    for (const event of decided.events) this.#apply(event);
    return decided.events.length > 0;
  }
  onCase(n: number, decide: Decision<MedCaseState, MedCaseEvent, unknown>): boolean {
    const one = this.cases[n];
    if (one === undefined) return false;
    const decided = decide(one.state);
    if (isRejection(decided)) return false;
    for (const event of decided.events) {
      one.state = medCase.evolve(one.state, event);
      one.events.push(event);
    }
    return decided.events.length > 0;
  }
  /** Tells the payment the first `steps` events of a case, whatever it was told before. */
  tell(n: number, steps: number): void {
    const one = this.cases[n];
    let state = medCase.initial;
    for (const [revision, event] of (one?.events ?? []).entries()) {
      state = medCase.evolve(state, event);
      const change = caseChange(event);
      if (revision >= steps || change === null || state.status === 'absent') continue;
      this.onPayment(recordCaseStep({ revision, change, medCase: state, at: AT }));
    }
  }
  /** Once all is told. */
  check(): void {
    for (const n of this.cases.keys()) this.tell(n, Number.POSITIVE_INFINITY);
    const { refunds, cases } = this.model;
    const sumOf = (state: string) =>
      refunds.filter((one) => one.state === state).reduce((sum, { amount }) => sum + amount, 0);
    const pending = sumOf('pending');
    const completed = sumOf('completed');
    const retained = cases.reduce((sum, { held, end }) => sum + (end === 'open' ? held : 0), 0);
    const gone = cases.reduce((sum, { held, end }) => sum + (end === 'gone' ? held : 0), 0);
    const of = (account: string) => this.postings.get(account) ?? 0;
    expect(of('merchant_retained'), 'retained').to.equal(retained);
    expect(of('refunds_in_transit'), 'in transit').to.equal(pending);
    expect(of('merchant_available'), 'available').to.equal(NET - pending - completed - retained - gone);
    expect([...this.postings.values()].reduce((sum, amount) => sum + amount, 0)).to.equal(0);
    expect(pending + completed + retained + gone).to.be.at.most(PAID);
    const last = cases.at(-1);
    const isDisputed = last !== undefined && !last.mismatch && last.end !== 'returned';
    expect(publicStatus(assertExists(this.paymentState))).to.equal(
      isDisputed ? 'disputed' : completed === PAID ? 'refunded' : 'paid',
    );
  }
}

type Move = (world: World) => void;
const caseIdOf = (n: number): MedCaseId => `1dspt00000000000000000000${n}` as MedCaseId;

const open =
  (mismatch: boolean): Move =>
  (world) => {
    const n = world.cases.length;
    if (n > 8) return;
    const id = caseIdOf(n);
    const { refunds, cases } = world.model;
    const taken = refunds.reduce((sum, { amount, state }) => sum + (state === 'failed' ? 0 : amount), 0);
    const isOpened = world.onPayment(
      openDispute(disputeReport({ caseId: id, amount: mismatch ? toMinor(PAID - 1) : null }), AT),
    );
    const last = cases.at(-1);
    const completed = refunds.reduce((sum, { amount, state }) => sum + (state === 'completed' ? amount : 0), 0);
    // That an end was not told yet keeps the next one from opening.
    if (last === undefined && completed < PAID) expect(isOpened).to.equal(true);
    if (last?.end === 'open' || (last?.end === 'gone' && !last.mismatch)) expect(isOpened).to.equal(false);
    if (!isOpened) return;
    world.cases.push({ id, state: medCase.initial, events: [], reports: 1 });
    world.onCase(n, openCase(caseTerms({ caseId: id, amountMismatch: mismatch }), AT));
    cases.push({ held: mismatch ? 0 : PAID - taken, mismatch, end: 'open' });
  };
const end = (n: number, what: 'returned' | 'gone', isEnded: boolean, world: World): void => {
  const one = world.model.cases[n];
  if (!isEnded || one === undefined) return;
  expect(one.end, 'ended once').to.equal('open');
  one.end = what;
};
const statusOf = (world: World, n: number): string => world.cases[n]?.state.status ?? 'absent';
const ending =
  (
    n: number,
    what: 'returned' | 'gone',
    decide: (world: World) => Decision<MedCaseState, MedCaseEvent, unknown>,
  ): Move =>
  (world) => {
    const before = statusOf(world, n);
    world.onCase(n, decide(world));
    const after = statusOf(world, n);
    end(n, what, before !== after && after !== 'appealed', world);
  };
const rule = (n: number, result: 'agreed' | 'disagreed', back: boolean): Move =>
  ending(n, result === 'disagreed' && back ? 'returned' : 'gone', (world) => {
    const report = ++(world.cases[n] ?? { reports: 1 }).reports;
    return ruleCase({ report, ruling: { result, returned: back }, review: false, at: AT }, true, AT);
  });
const withdraw = (n: number): Move =>
  ending(n, 'returned', (world) => {
    const report = ++(world.cases[n] ?? { reports: 1 }).reports;
    return ruleCase({ report, ruling: 'withdrawn', review: false, at: AT }, true, AT);
  });
/** Agreed, and an operator lets it count or not. */
const reviewed =
  (n: number, approve: boolean): Move =>
  (world) => {
    const report = ++(world.cases[n] ?? { reports: 1 }).reports;
    const ruling = { result: 'agreed', returned: true } as const;
    if (!world.onCase(n, ruleCase({ report, ruling, review: true, at: AT }, true, AT))) return;
    ending(n, 'gone', () => reviewCase(approve, true, AT))(world);
  };
const refund =
  (amount: number): Move =>
  (world) => {
    const n = world.model.refunds.length;
    const refundId = `0000000000000000000000rf${String(n).padStart(2, '0')}` as RefundId;
    const wish = {
      refundId,
      amount: toMinor(amount),
      reason: null,
      strategy: 'devolution' as const,
      passFeeToTenant: false,
      destinationKey: null,
      allowedDestinations: null,
      fingerprintUnder: () => `refund ${n}`,
      fingerprintVersion: 1,
    };
    if (world.onPayment(reserveRefund(wish, AT))) world.model.refunds.push({ amount, state: 'pending' });
  };
const refundEnded =
  (n: number, isPaid: boolean): Move =>
  (world) => {
    const one = world.model.refunds[n];
    const refundId = `0000000000000000000000rf${String(n).padStart(2, '0')}` as RefundId;
    const isRecorded = world.onPayment(isPaid ? completeRefund(refundId, 'E', AT) : releaseRefund(refundId, 'x', AT));
    if (isRecorded && one !== undefined) one.state = isPaid ? 'completed' : 'failed';
  };

const which = fc.nat(3);
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 3, arbitrary: fc.nat(9).map((n) => open(n === 0)) },
  {
    weight: 1,
    arbitrary: which.map(
      (n): Move =>
        (world) =>
          void world.onCase(n, appealCase('It came.', AT)),
    ),
  },
  { weight: 1, arbitrary: which.map((n) => ending(n, 'gone', () => acceptCase(true, AT))) },
  { weight: 1, arbitrary: which.map((n) => rule(n, 'agreed', true)) },
  { weight: 2, arbitrary: fc.tuple(which, fc.boolean()).map(([n, back]) => rule(n, 'disagreed', back)) },
  { weight: 2, arbitrary: which.map(withdraw) },
  { weight: 2, arbitrary: fc.tuple(which, fc.boolean()).map(([n, approve]) => reviewed(n, approve)) },
  {
    weight: 4,
    arbitrary: fc.tuple(which, fc.nat(6)).map(
      ([n, steps]): Move =>
        (world) =>
          world.tell(n, steps),
    ),
  },
  { weight: 3, arbitrary: fc.integer({ min: 1, max: PAID + 1 }).map(refund) },
  { weight: 3, arbitrary: fc.tuple(fc.nat(4), fc.boolean()).map(([n, isPaid]) => refundEnded(n, isPaid)) },
);

describe('random histories of disputes', () => {
  it('agree with a model of wallet, retained and charge status, whatever is told when', () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 40, size: 'max' }), (moves) => {
        const world = new World([created(), issued(), settled()]);
        for (const one of moves) one(world);
        world.check();
      }),
      { numRuns: 2_000 },
    );
  });
  it('reach every end of a case, mismatches, and several cases of a charge', () => {
    const seen = new Set<string>();
    for (const moves of fc.sample(fc.array(move, { maxLength: 40, size: 'max' }), { numRuns: 1_000, seed: 7 })) {
      const world = new World([created(), issued(), settled()]);
      for (const one of moves) one(world);
      for (const { end: how, mismatch } of world.model.cases) seen.add(`${how}${mismatch ? ' mismatch' : ''}`);
      if (world.model.cases.length > 1) seen.add('several');
      if (world.model.refunds.some(({ state }) => state === 'failed') && world.model.cases.length > 0)
        seen.add('refund failed');
    }
    expect([...seen]).to.include.members([
      'open',
      'returned',
      'gone',
      'open mismatch',
      'returned mismatch',
      'gone mismatch',
      'several',
      'refund failed',
    ]);
  });
  it('of money that a payer lock sends back there is nothing to dispute', () => {
    const lock = created({ expectedPayerTaxId: LOCKED_TO });
    for (const history of [
      [lock, issued(), sentBack('payer_mismatch')],
      [lock, issued(), sentBack('payer_mismatch'), returned()],
    ]) {
      const decided = openDispute(disputeReport(), AT)(fold(payment, history));
      expect(isRejection(decided) && decided.code).to.equal('charge_not_disputable');
    }
  });
});
