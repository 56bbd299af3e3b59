// Disputes, the banks' returns, returns outside Quita and refunds in any order, as application/disputes plays them (Q1–Q11, V9, V10). The
// clearing account matches what left the bank, each return once, and the merchant pays what the rules say.
import { expect } from 'chai';
import fc from 'fast-check';
import {
  acceptCase,
  notSettleable,
  openCase,
  recordMoneyReturned,
  recordSettled,
  ruleCase,
} from '../../domain/dispute/decisions.ts';
import {
  type MedCase,
  type MedCaseEvent,
  type MedCaseState,
  medCase,
  type SettlingVerdict,
  sumOfReturns,
} from '../../domain/dispute/medCase.ts';
import { caseChange } from '../../domain/dispute/snapshot.ts';
import { type Decision, fold } from '../../domain/kernel/decider.ts';
import type { MedCaseId, RefundId } from '../../domain/kernel/ids.ts';
import { toMinor } from '../../domain/kernel/money.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import {
  leavesNoCase,
  openDispute,
  openReturnedDispute,
  recordCaseStep,
  settleDispute,
  waitsForRefund,
} from '../../domain/payment/dispute.ts';
import { assertExists, type PaymentEvent, type PaymentState, payment } from '../../domain/payment/payment.ts';
import { journalEntry } from '../../domain/payment/postings.ts';
import { completeRefund, releaseRefund, reserveRefund } from '../../domain/payment/refund.ts';
import { recordReturnedOutside } from '../../domain/payment/returnedOutside.ts';
import { refundableRest } from '../../domain/transaction/refunds.ts';
import { ALLEGATION, at, created, incoming, issued, settled } from '../support/samples.ts';
import { caseTerms } from '../world/medCases.ts';

const AT = at('17:00:00');
const PAID = 12_345;
const NET = 12_212;
const sum = (amounts: readonly number[]): number => amounts.reduce((total, one) => total + one, 0);

/** A return by the banks or, if it is ordinary, outside Quita. */
interface Made {
  readonly id: string;
  readonly isOrdinary: boolean;
  readonly amount: number;
}
interface Refund {
  readonly refundId: RefundId;
  readonly amount: number;
  readonly strategy: 'devolution' | 'cashout';
  state: 'reserved' | 'completed' | 'failed';
}
/** A case as the bank and a reader of the rules know it. */
interface Known {
  readonly caseId: MedCaseId;
  /** What it holds, or took. */
  taken: number;
  /** Returned outside Quita since it was opened, and since `taken` was fixed. */
  outside: number;
  outsideTaken: number;
  isRuled: boolean;
}

class World {
  #payment: PaymentState = fold(payment, [created(), issued(), settled()]);
  readonly #cases = new Map<MedCaseId, readonly MedCaseEvent[]>();
  readonly balances = new Map<string, number>();
  readonly counted: PaymentEvent[] = [];
  readonly refunds: Refund[] = [];
  readonly known: Known[] = [];
  readonly made: Made[] = [];
  #waiting: Made[] = [];
  hasWaited = false;
  /** Settlements that the case does not know yet. */
  #unsettled: (() => void)[] = [];

  constructor() {
    this.#post(settled());
  }
  #post(event: PaymentEvent): void {
    const postings = journalEntry(event)?.postings ?? [];
    expect(sum(postings.map(({ amount }) => amount)), event.type).to.equal(0);
    for (const { account, amount } of postings) this.balances.set(account, (this.balances.get(account) ?? 0) + amount);
    if (event.type === 'TransactionDisputeReturnCounted') this.counted.push(event);
    expect(this.balances.get('merchant_retained') ?? 0, 'retained').to.be.at.least(0);
  }
  #onPayment<R>(decide: Decision<PaymentState, PaymentEvent, R>): R | null {
    const decided = decide(this.#payment);
    if (isRejection(decided)) return null;
    for (const event of decided.events) {
      this.#payment = payment.evolve(this.#payment, event);
      this.#post(event);
    }
    return decided.reply;
  }
  #onCase<R>(id: MedCaseId, decide: Decision<MedCaseState, MedCaseEvent, R>): R | null {
    const decided = decide(this.caseOf(id));
    if (isRejection(decided)) return null;
    this.#cases.set(id, [...this.#eventsOf(id), ...decided.events]);
    return decided.reply;
  }
  #eventsOf(id: MedCaseId): readonly MedCaseEvent[] {
    return this.#cases.get(id) ?? [];
  }
  caseOf(id: MedCaseId): MedCaseState {
    return fold(medCase, this.#eventsOf(id));
  }
  get #settled() {
    const { transaction } = assertExists(this.#payment);
    if (transaction.status !== 'settled') throw new Error('the payment is settled');
    return transaction;
  }
  get #latest(): Known | undefined {
    return this.known.at(-1);
  }

  /** As tellPaymentOf. */
  #tell(caseId: MedCaseId, from = 0): void {
    for (const [revision, event] of [...this.#eventsOf(caseId).entries()].slice(from)) {
      const after = fold(medCase, this.#eventsOf(caseId).slice(0, revision + 1)) as MedCase;
      const change = caseChange(event);
      if (change !== null) this.#onPayment(recordCaseStep({ revision, change, medCase: after, at: AT }));
    }
  }
  /** Does what processes that were killed left over. Everything is done twice. */
  catchUp(): void {
    for (const settle of this.#unsettled.splice(0)) settle();
    for (let n = 0; n < 2; n++) {
      for (const { caseId } of this.known) this.#tell(caseId);
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const one of waiting) this.#take(one);
    }
  }
  /** Reports everything again that was reported before, which must not post anything. */
  repeat(): void {
    this.catchUp();
    const before = this.#payment;
    for (const one of this.made) if (!this.#waiting.includes(one)) this.#take(one);
    for (const { caseId } of this.known) this.#tell(caseId);
    expect(this.#payment, 'nothing twice').to.equal(before);
  }

  /** `isRaced`: another process records the latest case's steps after this one has looked for them. */
  open(reported: number | 'all' | 'rest', isRaced: boolean): void {
    const caseId = `1dspt0000000000000000000${this.known.length + 10}` as MedCaseId;
    const rest = refundableRest(this.#settled);
    if (this.#latest !== undefined && !isRaced) this.#tell(this.#latest.caseId);
    const amount = toMinor(reported === 'all' ? PAID : reported === 'rest' ? rest : reported);
    const opened = this.#onPayment(openDispute({ ...ALLEGATION, caseId, type: 'med', amount }, AT));
    if (opened !== 'opened') return;
    const { dispute } = this.#settled;
    if (dispute === null) throw new Error('opened');
    const { amountMismatch } = dispute;
    this.known.push({ caseId, taken: dispute.amount, outside: 0, outsideTaken: 0, isRuled: false });
    this.#onCase(caseId, openCase(caseTerms({ caseId, amount, amountMismatch, held: dispute.taken }), AT));
    this.#tell(caseId);
  }
  /** As settleCase, perhaps killed in between. */
  settle(verdict: SettlingVerdict['verdict'], most: number, isKilled: boolean): void {
    const latest = this.#latest;
    if (latest === undefined || notSettleable(this.caseOf(latest.caseId), verdict) !== null) return;
    const { caseId } = latest;
    const amount = toMinor(verdict === 'nothing' ? 0 : Math.min(most, refundableRest(this.#settled)));
    const about = { verdict, amount, reason: 'x', by: 'operator:ana', announced: true };
    if (this.#onPayment(settleDispute({ caseId, ...about }, AT)) === null) return;
    latest.taken = amount;
    latest.outsideTaken = 0;
    const follow = () => {
      this.#onCase(caseId, recordSettled({ ...about, at: AT }));
      this.#tell(caseId);
    };
    if (isKilled) this.#unsettled.push(follow);
    else follow();
  }
  rule(got: number | null | 'kept' | 'won' | 'withdrawn', isKilled: boolean): void {
    const latest = this.#latest;
    const state = latest && this.caseOf(latest.caseId);
    if (latest === undefined || state === undefined || state.status === 'absent' || latest.isRuled) return;
    const held = state.held;
    const share = got === null || got === 'kept' ? held : typeof got === 'number' ? got : 0;
    if (this.#atBank({ share }) > PAID) return;
    const returnedToPayer = typeof got === 'number' ? toMinor(got) : null;
    const isAgreed = got === null || typeof got === 'number';
    const ruling =
      got === 'withdrawn'
        ? got
        : ({ result: isAgreed ? 'agreed' : 'disagreed', returned: got !== 'kept', returnedToPayer } as const);
    this.#onCase(latest.caseId, ruleCase({ report: 2, ruling, review: false, at: AT }, true, AT));
    latest.isRuled = true;
    if (!isKilled) this.#tell(latest.caseId);
  }
  accept(isKilled: boolean): void {
    const latest = this.#latest;
    if (latest === undefined || this.#onCase(latest.caseId, acceptCase(true, AT)) === null || isKilled) return;
    this.#tell(latest.caseId);
  }
  reserve(amount: number, strategy: Refund['strategy']): void {
    if (strategy === 'devolution' && this.#atBank({}) + amount > PAID) return;
    const refundId = `0000000000000000000000rf${10 + this.refunds.length}` as RefundId;
    const wish = {
      ...{ refundId, amount: toMinor(amount), reason: null, strategy, passFeeToTenant: false, paysOut: true },
      ...{ destinationKey: strategy === 'cashout' ? '52998224725' : null, allowedDestinations: null },
      ...{ fingerprintUnder: () => refundId, fingerprintVersion: 1 },
    };
    if (this.#onPayment(reserveRefund(wish, AT)) !== null)
      this.refunds.push({ refundId, amount, strategy, state: 'reserved' });
  }
  endRefund(n: number, isPaid: boolean): void {
    const refund = this.refunds.filter(({ state }) => state === 'reserved')[n];
    if (refund === undefined) return;
    this.#onPayment(isPaid ? completeRefund(refund.refundId, null, AT) : releaseRefund(refund.refundId, 'refused', AT));
    refund.state = isPaid ? 'completed' : 'failed';
  }
  return(amount: number, isOrdinary: boolean, isKilled = false): void {
    if (this.#atBank({ [isOrdinary ? 'ordinary' : 'med']: amount }) > PAID) return;
    const one = { id: `${isOrdinary ? 'app' : 'med'}${this.made.length}`, isOrdinary, amount };
    this.made.push(one);
    this.#take(one, isKilled);
  }
  /** As takeReturns. */
  #take(one: Made, isKilled = false): void {
    if (one.isOrdinary) this.#takeOrdinary(one);
    else if (!this.#takeMed(one, isKilled)) {
      this.#waiting.push(one);
      this.hasWaited = true;
    }
  }
  #takeOrdinary({ id, amount }: Made): void {
    const latest = this.#latest;
    const events = latest === undefined ? [] : this.#eventsOf(latest.caseId);
    const state = latest && this.caseOf(latest.caseId);
    const returned = state === undefined || state.status === 'absent' ? toMinor(0) : sumOfReturns(state);
    const seen = latest === undefined ? null : { caseId: latest.caseId, revision: events.length - 1, returned };
    const { providerPaymentId } = incoming();
    const made = { providerPaymentId, id, returnId: null, nature: 'ordinary', amount: toMinor(amount) } as const;
    if (this.#onPayment(recordReturnedOutside(made, seen, AT)) !== 'recorded' || latest === undefined) return;
    latest.outside += amount;
    latest.outsideTaken += amount;
  }
  /** Returns false if it has to wait. */
  #takeMed({ id, amount }: Made, isKilled: boolean): boolean {
    const made = { id, amount: toMinor(amount), at: AT };
    const own = `1dspt000000000000000000r${id.padStart(2, '0').slice(-2)}` as MedCaseId;
    const states = this.known.map(({ caseId }) => this.caseOf(caseId) as MedCase);
    if (states.some(({ returns = [] }) => returns.some((other) => other.id === id))) return true;
    const latest = states.at(-1);
    if (latest === undefined || this.#cases.has(own)) return this.#openReturned(own, made, isKilled);
    const { caseId } = latest.terms;
    const isAnnounced = sumOfReturns(latest) < (latest.returnedToPayer ?? 0);
    const returned = toMinor(sumOfReturns(latest) + amount);
    const existing = assertExists(this.#payment);
    if (waitsForRefund(existing, toMinor(returned - latest.held))) return false;
    const latestMade = { ...made, leavesNoCase: leavesNoCase(existing, returned) };
    if (this.#onCase(caseId, recordMoneyReturned(latestMade, true, AT)) === 'recorded') {
      if (!isKilled) this.#tell(caseId);
      return true;
    }
    expect(isAnnounced, 'a return that the ruling announced belongs to its case').to.equal(false);
    // Otherwise another process recorded the case's steps after this one had looked for them.
    if (!isKilled) this.#tell(caseId);
    return this.#openReturned(own, made, isKilled);
  }
  #openReturned(caseId: MedCaseId, made: Parameters<typeof recordMoneyReturned>[0], isKilled: boolean): boolean {
    const { amount } = made;
    const reply = this.#onPayment(openReturnedDispute({ ...ALLEGATION, caseId, type: 'med', amount }, AT));
    if (reply === null) throw new Error('never rejected');
    // Nothing that the bank can have returned is left to the operators.
    if (typeof reply === 'object') expect(reply.isFinal, reply.because).to.equal(false);
    if (typeof reply === 'object' || reply === 'waits') return false;
    const { dispute } = this.#settled;
    if (reply === 'opened')
      this.known.push({ caseId, taken: dispute?.amount ?? 0, outside: 0, outsideTaken: 0, isRuled: true });
    const held = dispute?.caseId === caseId ? dispute.taken : amount;
    this.#onCase(caseId, openCase(caseTerms({ caseId, amount, held }), AT));
    this.#onCase(caseId, recordMoneyReturned(made, true, AT));
    if (!isKilled) this.#tell(caseId);
    return true;
  }

  /** What left the bank by returns of the Pix, if this is added. A ruling includes what was returned since its case was opened. */
  #atBank({ share = 0, ordinary = 0, med = 0 }): number {
    const devolved = this.refunds.filter(({ strategy, state }) => strategy === 'devolution' && state !== 'failed');
    const ofCases = this.known.map((one) => {
      const { status: _, ...state } = this.caseOf(one.caseId) as MedCase;
      const isLatest = one === this.#latest;
      const ruled = Math.max(state.returnedToPayer ?? 0, isLatest ? share : 0);
      const more = isLatest ? ordinary + med : 0;
      return [Math.max(ruled, sumOfReturns(state) + one.outside + more), sumOfReturns(state) + one.outside] as const;
    });
    const unassigned = sum(this.made.map(({ amount }) => amount)) - sum(ofCases.map(([, returns]) => returns));
    const more = this.known.length === 0 ? ordinary + med : 0;
    return sum(devolved.map(({ amount }) => amount)) + sum(ofCases.map(([all]) => all)) + unassigned + more;
  }

  /** What left the bank in all, and what the merchant pays. */
  expected() {
    const refunded = sum(this.refunds.filter(({ state }) => state === 'completed').map(({ amount }) => amount));
    const unposted = this.made.filter((one) => this.#waiting.includes(one));
    const devolved = sum(
      this.refunds
        .filter(({ state, strategy }) => state !== 'failed' && strategy === 'devolution')
        .map((o) => o.amount),
    );
    const returns = this.#atBank({}) - devolved - sum(unposted.map(({ amount }) => amount));
    const outside = sum(this.made.filter(({ isOrdinary }) => isOrdinary).map(({ amount }) => amount));
    const taken = this.known.map(({ caseId, taken: first, outsideTaken }) => {
      const state = this.caseOf(caseId) as MedCase;
      const isLost = state.moneyOutcome === 'lost' || state.moneyOutcome === 'closed_without_refund';
      return isLost ? Math.max(first - outsideTaken, sumOfReturns(state)) : 0;
    });
    // Even a failed refund may have made the banks' return exceed what was left.
    const isDouble = sum([...this.made, ...this.refunds].map(({ amount }) => amount)) > PAID;
    return {
      clearing: -PAID + refunded + returns,
      merchant: NET - refunded - outside - sum(taken),
      refunded,
      isDouble,
    };
  }
  check(): void {
    const of = (account: string) => this.balances.get(account) ?? 0;
    const { clearing, merchant, refunded, isDouble } = this.expected();
    const outside = sum(this.made.filter(({ isOrdinary }) => isOrdinary).map(({ amount }) => amount));
    expect(of('provider_clearing'), 'clearing').to.equal(clearing);
    const ofMerchant = of('merchant_available') + of('merchant_retained');
    if (!isDouble) expect(ofMerchant, 'merchant').to.equal(merchant);
    // V10: the merchant pays a return outside Quita, even if a refund or the banks give the payer the same money.
    expect(NET - ofMerchant, 'at most').to.be.at.most(PAID + (isDouble ? outside : 0));
    expect(NET - ofMerchant, 'at least').to.be.at.least(refunded + outside);
    const isOpen = this.known.some(({ caseId }) => (this.caseOf(caseId) as MedCase).moneyOutcome === null);
    if (!isOpen) expect(of('merchant_retained'), 'retained').to.equal(0);
  }
  /** Ends everything and checks the result. */
  end(): void {
    while (this.refunds.some(({ state }) => state === 'reserved')) this.endRefund(0, true);
    this.catchUp();
    this.repeat();
    this.check();
    this.settle('nothing', 0, false);
    this.rule('withdrawn', false);
    this.repeat();
    expect(this.#waiting).to.deep.equal([]);
    this.check();
  }
}

type Move = readonly [string, (world: World) => void];
const amount = fc.oneof(fc.constantFrom(2_000, 3_000, 5_000, PAID - 5_000, PAID), fc.integer({ min: 1, max: PAID }));
const isKilled = fc.integer({ min: 0, max: 4 }).map((n) => n === 0);
const verdict = fc.constantFrom('held' as const, 'lost' as const, 'nothing' as const);
const share = fc.oneof(
  { weight: 3, arbitrary: amount },
  { weight: 2, arbitrary: fc.constantFrom(null, 'kept' as const, 'won' as const, 'withdrawn' as const) },
);
const named = <T extends readonly unknown[]>(
  name: string,
  args: fc.Arbitrary<T>,
  move: (world: World, ...of: T) => void,
) => args.map((of): Move => [`${name} ${of.join(' ')}`, (world) => move(world, ...of)]);
const reported = fc.oneof(fc.constantFrom('all' as const, 'rest' as const), amount);
const strategy = fc.constantFrom('devolution' as const, 'cashout' as const);
const otherMoves: fc.Arbitrary<Move> = fc.oneof(
  { weight: 3, arbitrary: named('open', fc.tuple(reported, isKilled), (world, ...of) => world.open(...of)) },
  { weight: 3, arbitrary: named('settle', fc.tuple(verdict, amount, isKilled), (w, ...of) => w.settle(...of)) },
  { weight: 3, arbitrary: named('rule', fc.tuple(share, isKilled), (world, ...of) => world.rule(...of)) },
  { weight: 1, arbitrary: named('accept', fc.tuple(isKilled), (world, of) => world.accept(of)) },
  { weight: 2, arbitrary: named('refund', fc.tuple(amount, strategy), (world, ...of) => world.reserve(...of)) },
  {
    weight: 2,
    arbitrary: named('refund ends', fc.tuple(fc.nat(1), fc.boolean()), (world, ...of) => world.endRefund(...of)),
  },
);
const returned = (isOrdinary: boolean) =>
  named(isOrdinary ? 'ordinary' : 'MED', fc.tuple(amount, isKilled), (world, of, killed) =>
    world.return(of, isOrdinary, killed),
  );
const moves: fc.Arbitrary<Move> = fc.oneof(
  { weight: 13, arbitrary: otherMoves },
  { weight: 8, arbitrary: fc.boolean().chain(returned) },
  { weight: 2, arbitrary: named('catch up', fc.tuple(), (world) => world.catchUp()) },
  { weight: 1, arbitrary: named('repeat', fc.tuple(), (world) => world.repeat()) },
);

/** Returns the world after these moves, and everything else that follows. */
const playedOut = (all: readonly Move[]): World => {
  const world = new World();
  try {
    for (const [, move] of all) move(world);
    world.end();
  } catch (error) {
    throw new Error(`${all.map(([name]) => name).join(', ')}: ${(error as Error).message}`);
  }
  return world;
};
const few = fc.integer({ min: 1, max: 5_000 });
/** A mismatch that the bank rules and an operator settles, perhaps as less. */
const mismatch = fc
  .tuple(
    named('open', fc.tuple(few), (world, of) => world.open(of, false)),
    named('rule', fc.tuple(few, isKilled), (world, ...of) => world.rule(...of)),
    named('settle', fc.tuple(verdict, few, isKilled), (world, ...of) => world.settle(...of)),
  )
  .chain((all) => fc.shuffledSubarray([...all], { minLength: 3 }));
const history = fc
  .tuple(fc.oneof(fc.constant([]), mismatch), fc.array(moves, { minLength: 2, maxLength: 10, size: 'max' }))
  .map((parts) => parts.flat());

describe('disputes, returns and refunds', () => {
  it('in any order post what left the bank once, and charge the merchant what the rules say', () => {
    fc.assert(
      fc.property(history, (all) => void playedOut(all)),
      { numRuns: 2_000 },
    );
  });
  it('have the same balances, whatever the order of the returns', () => {
    let compared = 0;
    const small = fc.array(
      fc.tuple(fc.boolean(), fc.oneof(fc.constantFrom(2_000, 3_000), fc.integer({ min: 1, max: 5_000 }))),
      { minLength: 2, maxLength: 4 },
    );
    const both = small.chain((of) => fc.tuple(fc.constant(of), fc.shuffledSubarray(of, { minLength: of.length })));
    fc.assert(
      fc.property(fc.oneof(mismatch, fc.array(otherMoves, { maxLength: 6 })), both, (start, orders) => {
        const worlds = orders.map((order) =>
          playedOut([
            ...start,
            ...order.map(
              ([isOrdinary, of]): Move => [`${isOrdinary ? 'ordinary' : 'MED'} ${of}`, (w) => w.return(of, isOrdinary)],
            ),
          ]),
        );
        // A sum that the bank refuses depends on the order.
        if (worlds.some(({ made }) => made.length < orders[0].length)) return;
        compared += 1;
        const [first, second] = worlds.map((world) => {
          // If the merchant kept the money in spite of a ruling, the platform pays all of the return that reaches the ruling's amount.
          const isKept = world.known.some(({ caseId }) => (world.caseOf(caseId) as MedCase).settling === 'nothing');
          const isDouble = isKept || world.expected().isDouble;
          const accounts = [
            'provider_clearing',
            ...(isDouble ? [] : ['merchant_available', 'merchant_retained', 'disputes']),
          ];
          return accounts.map((account) => [account, world.balances.get(account) ?? 0]);
        });
        expect(first, start.map(([name]) => name).join(', ')).to.deep.equal(second);
      }),
      { numRuns: 1_000 },
    );
    expect(compared).to.be.above(300);
  });
  it('reach returns beyond a case, rulings that others carry out, losses of the platform and returns that wait', () => {
    const seen = new Map<string, number>();
    for (const all of fc.sample(history, { numRuns: 2_000, seed: 7 })) {
      const world = playedOut(all);
      const amounts = world.counted.flatMap((event) =>
        event.type === 'TransactionDisputeReturnCounted' ? [event.data] : [],
      );
      const is = {
        several: world.known.length > 1,
        counted: amounts.some(({ amount: of }) => of > 0),
        beyond: amounts.some(({ amount: of }) => of < 0),
        posted: amounts.some(({ amount: of, posted }) => posted > of && of > 0),
        'posted only': amounts.some(({ amount: of, posted }) => posted > 0 && of === 0),
        loss: (world.balances.get('disputes') ?? 0) < 0,
        waited: world.hasWaited,
      };
      for (const [name, isSo] of Object.entries(is)) if (isSo) seen.set(name, (seen.get(name) ?? 0) + 1);
    }
    expect([...seen].filter(([, times]) => times >= 10)).to.have.length(7, JSON.stringify([...seen]));
  });
});
