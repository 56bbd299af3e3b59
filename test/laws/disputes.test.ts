// Random histories of disputes with concurrent refunds, where the payment learns of case events late, repeatedly or several at once. No
// money is created or lost, statuses agree with a simple model, and the clearing account agrees with the bank’s books, whatever amounts the
// bank reports and rules (Q1–Q4, Q10, Q11).
import { expect } from 'chai';
import fc from 'fast-check';
import {
  acceptCase,
  appealCase,
  openCase,
  recordSettled,
  reviewCase,
  ruleCase,
} from '../../domain/dispute/decisions.ts';
import { type MedCaseEvent, type MedCaseState, type MoneyOutcome, medCase } from '../../domain/dispute/medCase.ts';
import { caseChange } from '../../domain/dispute/snapshot.ts';
import { type Decision, fold } from '../../domain/kernel/decider.ts';
import type { MedCaseId, RefundId } from '../../domain/kernel/ids.ts';
import { toMinor } from '../../domain/kernel/money.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { openDispute, recordCaseStep, settleDispute } from '../../domain/payment/dispute.ts';
import { assertExists, type PaymentEvent, type PaymentState, payment } from '../../domain/payment/payment.ts';
import { journalEntry } from '../../domain/payment/postings.ts';
import { completeRefund, releaseRefund, reserveRefund } from '../../domain/payment/refund.ts';
import { publicStatus } from '../../domain/presentation/status.ts';
import { at, created, disputeReport, issued, LOCKED_TO, returned, sentBack, settled } from '../support/samples.ts';
import { caseTerms } from '../world/medCases.ts';

const PAID = 12_345;
/** The part that reaches the wallet. */
const NET = 12_212;
const AT = at('17:00:00');

/** The expected state of a merchant’s books, in plain numbers. */
interface Model {
  refunds: { amount: number; state: 'pending' | 'completed' | 'failed' | 'late' }[];
  /** `given` is what the payer received according to the bank’s books. */
  cases: {
    held: number;
    reported: number;
    mismatch: boolean;
    awaited: boolean;
    end: 'open' | 'returned' | 'gone';
    given: number;
    isContradicted: boolean;
  }[];
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
  /** Applies the first `steps` events of a case to the payment, whatever was applied before. */
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
  /** Applies all remaining case events and checks the result. */
  check(): void {
    for (const n of this.cases.keys()) this.tell(n, Number.POSITIVE_INFINITY);
    const { refunds, cases } = this.model;
    const sumOf = (state: string) =>
      refunds.filter((one) => one.state === state).reduce((sum, { amount }) => sum + amount, 0);
    const pending = sumOf('pending');
    const completed = sumOf('completed');
    // Until a mismatch is settled, its money has no owner and nothing is held.
    const settled = cases.filter(({ awaited }) => !awaited);
    const sumHeld = (end: Model['cases'][number]['end']) =>
      settled.filter((one) => one.end === end).reduce((sum, { held }) => sum + held, 0);
    const [retained, gone] = [sumHeld('open'), sumHeld('gone')];
    const of = (account: string) => this.postings.get(account) ?? 0;
    expect(of('merchant_retained'), 'retained').to.equal(retained);
    expect(of('refunds_in_transit'), 'in transit').to.equal(pending);
    expect(of('merchant_available'), 'available').to.equal(NET - pending - completed - retained - gone);
    expect([...this.postings.values()].reduce((sum, amount) => sum + amount, 0)).to.equal(0);
    expect(pending + completed + retained + gone).to.be.at.most(PAID);
    this.#checkBank(completed + sumOf('late'), gone);
    const last = cases.at(-1);
    const isDisputed = last !== undefined && !last.awaited && last.end !== 'returned';
    expect(publicStatus(assertExists(this.paymentState))).to.equal(
      isDisputed ? 'disputed' : completed === PAID ? 'refunded' : 'paid',
    );
    if (last?.awaited)
      expect(PAID - pending - completed, 'left for the settling').to.be.at.least(this.#leftAtLeast(last));
  }
  /** Returns the reported amount, or what was left at the opening if that was less. */
  #leftAtLeast({ reported }: Model['cases'][number]): number {
    return Math.min(reported, this.restAtOpening);
  }
  restAtOpening = PAID;
  /**
   * Our clearing account equals the bank’s books. The only exception is a report that contradicts a closed case, and such reports are
   * listed.
   */
  #checkBank(refunded: number, gone: number): void {
    const { cases } = this.model;
    const of = (account: string) => this.postings.get(account) ?? 0;
    const given = cases.reduce((sum, one) => sum + one.given, 0);
    const isContradicted = cases.some((one) => one.isContradicted);
    for (const [n, one] of cases.entries()) {
      const { state } = this.cases[n] as World['cases'][number];
      expect(state.status !== 'absent' && state.contradiction !== null, 'listed').to.equal(one.isContradicted);
    }
    const bank = PAID - refunded - given;
    if (!isContradicted) expect(-of('provider_clearing'), 'the bank’s books').to.equal(bank);
    // The account of disputes takes the difference, as the platform’s gain or loss.
    const paidOut = PAID - refunded + of('provider_clearing');
    expect(of('disputes'), 'rest').to.equal(gone - paidOut);
  }
}

type Move = (world: World) => void;
const caseIdOf = (n: number): MedCaseId => `1dspt00000000000000000000${n}` as MedCaseId;

/** The amount that the bank reports: the charge’s amount, what is left of it, or any other. */
type Reported = 'all' | 'rest' | number;
const open =
  (what: Reported): Move =>
  (world) => {
    const n = world.cases.length;
    if (n > 8) return;
    const id = caseIdOf(n);
    const { refunds, cases } = world.model;
    const taken = refunds.reduce(
      (sum, { amount, state }) => sum + (state === 'failed' || state === 'late' ? 0 : amount),
      0,
    );
    const rest = PAID - taken;
    const reported = what === 'all' ? PAID : what === 'rest' ? Math.max(rest, 1) : what;
    const mismatch = reported !== PAID && reported !== rest;
    const isOpened = world.onPayment(openDispute(disputeReport({ caseId: id, amount: toMinor(reported) }), AT));
    const last = cases.at(-1);
    const completed = refunds.reduce((sum, { amount, state }) => sum + (state === 'completed' ? amount : 0), 0);
    // A case can’t open while the end of the previous one has not reached the payment.
    if (last === undefined && completed < PAID) expect(isOpened).to.equal(true);
    if (last !== undefined && (last.awaited || last.end !== 'returned')) expect(isOpened).to.equal(false);
    if (!isOpened) return;
    const held = mismatch ? 0 : rest;
    world.restAtOpening = rest;
    world.cases.push({ id, state: medCase.initial, events: [], reports: 1 });
    const terms = caseTerms({ caseId: id, amount: toMinor(reported), amountMismatch: mismatch, held: toMinor(held) });
    world.onCase(n, openCase(terms, AT));
    cases.push({ held, reported, mismatch, awaited: mismatch, end: 'open', given: 0, isContradicted: false });
  };

/** An operator settles a mismatch; more than is left is rejected. */
const settle =
  (n: number, verdict: 'held' | 'lost' | 'nothing', share: number): Move =>
  (world) => {
    const [one, settled] = [world.cases[n], world.model.cases[n]];
    if (one === undefined || settled === undefined) return;
    if (verdict === 'held' && !['open', 'appealed'].includes(one.state.status)) return;
    const amount = toMinor(verdict === 'nothing' ? 0 : share);
    const how = { verdict, amount, reason: 'x', by: 'operator:ana', announced: true };
    const taken = world.model.refunds.reduce(
      (sum, { amount: of, state }) => sum + (state === 'failed' || state === 'late' ? 0 : of),
      0,
    );
    const isDone = world.onPayment(settleDispute({ ...how, caseId: one.id }, AT));
    expect(isDone, 'settled once, of what is left').to.equal(settled.awaited && amount <= PAID - taken);
    if (!isDone) return;
    world.onCase(n, recordSettled({ ...how, at: AT }));
    settled.awaited = false;
    settled.held = amount;
    if (verdict === 'lost') settled.end = 'gone';
    if (verdict === 'nothing') settled.end = 'returned';
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
/** Records the bank’s ruling, and how much of the held amount it gave the payer. */
const said =
  (
    n: number,
    outcome: MoneyOutcome,
    ruling: Parameters<typeof ruleCase>[0]['ruling'],
    given: (held: number) => number,
  ): Move =>
  (world) => {
    const [one, of] = [world.cases[n], world.model.cases[n]];
    if (one === undefined || of === undefined || one.state.status === 'absent') return;
    const { held, moneyOutcome, decided, returnedToPayer, closedAt } = one.state;
    const report = ++one.reports;
    const decide = () => ruleCase({ report, ruling, review: false, at: AT }, true, AT);
    ending(n, outcome === 'refunded_to_merchant' ? 'returned' : 'gone', decide)(world);
    of.given = given(held);
    // After the end, only a report with the same result is no contradiction.
    if (closedAt === null) return;
    const isSame = outcome === (moneyOutcome ?? decided) && (returnedToPayer ?? of.given) === of.given;
    of.isContradicted ||= !isSame;
  };
const rule = (n: number, result: 'agreed' | 'disagreed', returned: boolean, got: number | null): Move =>
  said(
    n,
    result === 'agreed' ? 'lost' : returned ? 'refunded_to_merchant' : 'closed_without_refund',
    { result, returned, returnedToPayer: got === null ? null : toMinor(got) },
    (held) => (result === 'agreed' ? (got ?? held) : returned ? 0 : held),
  );
const withdraw = (n: number): Move => said(n, 'refunded_to_merchant', 'withdrawn', () => 0);
/** The bank agrees, and an operator approves or rejects the outcome. */
const reviewed =
  (n: number, approve: boolean): Move =>
  (world) => {
    const [one, of] = [world.cases[n], world.model.cases[n]];
    if (one === undefined || of === undefined || !['open', 'appealed'].includes(one.state.status)) return;
    const ruling = { result: 'agreed', returned: true, returnedToPayer: null } as const;
    if (!world.onCase(n, ruleCase({ report: ++one.reports, ruling, review: true, at: AT }, true, AT))) return;
    if (approve) of.given = of.held;
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
      paysOut: true,
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
    if (!isRecorded || one === undefined) return;
    // A late confirmation of a failed refund moves none of the merchant’s money, but the bank paid it.
    one.state = isPaid ? (one.state === 'failed' ? 'late' : 'completed') : 'failed';
  };

const which = fc.nat(3);
const anyReported = fc.integer({ min: 1, max: PAID + 10 });
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 3, arbitrary: fc.oneof(fc.constantFrom('all' as const, 'rest' as const), anyReported).map(open) },
  {
    weight: 1,
    arbitrary: which.map(
      (n): Move =>
        (world) =>
          void world.onCase(n, appealCase('It came.', AT)),
    ),
  },
  { weight: 1, arbitrary: which.map((n) => ending(n, 'gone', () => acceptCase(true, AT))) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(which, fc.option(fc.integer({ min: 0, max: PAID })))
      .map(([n, got]) => rule(n, 'agreed', true, got)),
  },
  { weight: 2, arbitrary: fc.tuple(which, fc.boolean()).map(([n, back]) => rule(n, 'disagreed', back, null)) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(which, fc.constantFrom('held' as const, 'lost' as const, 'nothing' as const), anyReported)
      .map(([n, verdict, amount]) => settle(n, verdict, amount)),
  },
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
  it('agree with the bank’s books and a model of wallet and status, whatever happens when', () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 40, size: 'max' }), (moves) => {
        const world = new World([created(), issued(), settled()]);
        for (const one of moves) one(world);
        world.check();
      }),
      { numRuns: 2_000 },
    );
  });
  it('reach every end of a case, mismatches, and several cases per charge', () => {
    const seen = new Set<string>();
    for (const moves of fc.sample(fc.array(move, { maxLength: 40, size: 'max' }), { numRuns: 1_000, seed: 7 })) {
      const world = new World([created(), issued(), settled()]);
      for (const one of moves) one(world);
      for (const { end: how, mismatch, awaited, isContradicted } of world.model.cases) {
        seen.add(`${how}${mismatch ? (awaited ? ' mismatch' : ' settled') : ''}`);
        if (isContradicted) seen.add('contradicted');
      }
      if (world.postings.get('disputes')) seen.add('rest');
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
      'open settled',
      'returned settled',
      'gone settled',
      'contradicted',
      'rest',
      'several',
      'refund failed',
    ]);
  });
  it('never open a dispute about money that a payer lock returns', () => {
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
