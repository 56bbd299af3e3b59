// Conservation of money in random histories of returns, rejections, settlements and late confirmations (M10). Whatever the bank says in any
// order, the ledger’s clearing account equals the bank’s balance, and all shares add up to it.
import { expect } from 'chai';
import fc from 'fast-check';
import { LEDGER_ACCOUNTS } from '../../domain/aggregates.ts';
import type { RefundId } from '../../domain/kernel/ids.ts';
import type { LedgerAccount } from '../../domain/kernel/journal.ts';
import { toMinor } from '../../domain/kernel/money.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import { releaseHeld, returnHeld } from '../../domain/payment/held.ts';
import { recordReturn, recordReturnRefusal } from '../../domain/payment/lifecycle.ts';
import { type PaymentEvent, type PaymentState, payment } from '../../domain/payment/payment.ts';
import { journalEntry } from '../../domain/payment/postings.ts';
import { completeRefund, releaseRefund, reserveRefund } from '../../domain/payment/refund.ts';
import { settleIncomingPayment } from '../../domain/payment/settle.ts';
import {
  ALREADY_SETTLED,
  lateConfirmations,
  recordHeldPayoutFailed,
  recordHeldPayoutPaid,
  settleHeld,
} from '../../domain/payment/settleHeld.ts';
import { DEFAULT_FEES } from '../../domain/transaction/fees.ts';
import { at, created, issued, LOCKED_TO, PAID_AT, SETTINGS, SOMEBODY_ELSE } from '../support/samples.ts';

const NOW = at('13:30:00');
const IDS = ['E1', 'E2', 'E3'];
const TERMS = { fees: DEFAULT_FEES, holdDays: SETTINGS.holdDays };
const payoutIdOf = (id: string, refusals: number) => `po-${id}-${refusals}` as RefundId;

/** The bank’s own books: its balance and what it has executed. It returns a Pix once, and pays a payout or refund once. */
class Bank {
  lies = 0;
  fees = 0;
  readonly done = new Set<string>();
  pay(id: string, amount: number, fee = 0): void {
    if (this.done.has(id)) return;
    this.done.add(id);
    this.lies -= amount;
    this.fees += fee;
  }
}

type Word = 'confirm' | 'refuse';
type Step =
  | { readonly kind: 'arrive'; readonly id: string; readonly amount: number; readonly document: string | null }
  | { readonly kind: 'return' | 'payout' | 'refundWord'; readonly which: number; readonly word: Word }
  | { readonly kind: 'again' | 'release' | 'refund' }
  | { readonly kind: 'settle'; readonly which: number; readonly isPixOut: boolean };

const word = fc.constantFrom<Word>('confirm', 'refuse', 'refuse');
const which = fc.nat(5);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('arrive' as const),
      id: fc.constantFrom(...IDS),
      amount: fc.constantFrom(12_345, 12_345, 12_345, 99),
      document: fc.constantFrom(LOCKED_TO, SOMEBODY_ELSE, SOMEBODY_ELSE, null),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom('return' as const, 'payout' as const, 'refundWord' as const),
      which,
      word,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('again' as const, 'release' as const, 'refund' as const) }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('settle' as const), which, isPixOut: fc.boolean() }) },
);

class Story {
  readonly bank = new Bank();
  readonly events: PaymentEvent[] = [];
  state: PaymentState;
  #refunds = 0;

  constructor() {
    this.state = payment.initial;
    for (const event of [created({ expectedPayerTaxId: LOCKED_TO }), issued()]) this.#take(event);
  }

  #take(event: PaymentEvent): void {
    this.events.push(event);
    this.state = payment.evolve(this.state, event);
  }
  /** Returns whether the decision was accepted. */
  decide(decided: Rejection | { readonly events: readonly PaymentEvent[] }): boolean {
    if (isRejection(decided)) return false;
    for (const event of decided.events) this.#take(event);
    return true;
  }

  play(one: Step): void {
    const { transaction } = this.state;
    switch (one.kind) {
      case 'arrive': {
        if (!transaction.incomingPayments.some(({ providerPaymentId }) => providerPaymentId === one.id))
          this.bank.lies += one.amount;
        else return;
        const payer = { name: null, document: one.document };
        const incoming = {
          method: 'PIX' as const,
          providerPaymentId: one.id,
          amount: toMinor(one.amount),
          payer,
          paidAt: PAID_AT,
        };
        const arrived = {
          incoming,
          isPlain: true,
          payerCheck: 'unknown' as const,
          ...TERMS,
          returnId: `r-${one.id}`,
          at: NOW,
        };
        this.decide(settleIncomingPayment(arrived)(this.state));
        return;
      }
      case 'return': {
        // Returns in progress, and returns that were rejected but may be confirmed late.
        const asked = transaction.incomingPayments.filter(({ returnId }) => returnId !== null);
        const pix = asked[one.which % asked.length];
        if (pix?.returnId == null) return;
        const { providerPaymentId, returnId, amount } = pix;
        if (one.word === 'refuse' && !this.bank.done.has(providerPaymentId)) {
          this.decide(recordReturnRefusal(providerPaymentId, returnId, 'no', NOW)(this.state));
        } else {
          this.bank.pay(providerPaymentId, amount);
          this.decide(recordReturn(providerPaymentId, returnId, NOW)(this.state));
        }
        return;
      }
      case 'payout': {
        const payouts = transaction.incomingPayments.flatMap(({ amount, payouts: all = [] }) =>
          all.map(({ payoutId }) => ({ payoutId, amount })),
        );
        const payout = payouts[one.which % payouts.length];
        if (payout === undefined) return;
        if (one.word === 'refuse' && !this.bank.done.has(payout.payoutId)) {
          this.decide(recordHeldPayoutFailed(payout.payoutId, 'no', NOW)(this.state));
        } else {
          this.bank.pay(payout.payoutId, payout.amount, 50);
          this.decide(recordHeldPayoutPaid(payout.payoutId, 'E-out', NOW)(this.state));
        }
        return;
      }
      case 'refundWord': {
        const refunds = transaction.status === 'settled' ? transaction.refunds : [];
        const refund = refunds[one.which % refunds.length];
        if (refund === undefined) return;
        if (one.word === 'refuse' && !this.bank.done.has(refund.refundId)) {
          this.decide(releaseRefund(refund.refundId, 'no', NOW)(this.state));
        } else {
          this.bank.pay(refund.refundId, refund.amount, refund.fee);
          this.decide(completeRefund(refund.refundId, 'E-out', NOW)(this.state));
        }
        return;
      }
      case 'refund': {
        const refundId = `rf-${++this.#refunds}` as RefundId;
        const wish = {
          refundId,
          amount: toMinor(4_000),
          reason: null,
          strategy: null,
          passFeeToTenant: this.#refunds % 2 === 0,
        };
        const rest = {
          destinationKey: LOCKED_TO,
          paysOut: true,
          allowedDestinations: null,
          fingerprintUnder: () => refundId,
          fingerprintVersion: 1,
        };
        this.decide(reserveRefund({ ...wish, ...rest }, NOW)(this.state));
        return;
      }
      case 'again':
        this.decide(
          returnHeld(
            { returnIdOf: (id, refusals) => `r-${id}-${refusals}`, providerPaymentId: null, by: 'operator' },
            NOW,
          )(this.state),
        );
        return;
      case 'release':
        this.decide(releaseHeld(TERMS, 'operator', NOW)(this.state));
        return;
      case 'settle': {
        // Prefers waiting money; otherwise most histories would settle nothing.
        const late = lateConfirmations(transaction).map(({ id }) => id);
        const refused = transaction.incomingPayments.filter(({ outcome }) => outcome === 'unreturned');
        const waiting = [...late, ...refused.map(({ providerPaymentId }) => providerPaymentId)];
        const ids = one.which > 0 && waiting.length > 0 ? waiting : IDS;
        const id = ids[one.which % ids.length] as string;
        const pixOut = one.isPixOut ? 'tesouraria@example.com' : null;
        this.decide(settleHeld({ pixOut, reason: 'x', id, payoutIdOf, by: 'operator' }, NOW)(this.state));
        return;
      }
      default:
        one satisfies never;
    }
  }

  get balances(): { readonly [A in LedgerAccount]: number } {
    const sums = Object.fromEntries(LEDGER_ACCOUNTS.map((account) => [account, 0])) as Record<LedgerAccount, number>;
    for (const event of this.events)
      for (const { account, amount } of journalEntry(event)?.postings ?? []) sums[account] += amount;
    return sums;
  }
}

const sum = (amounts: readonly number[]): number => amounts.reduce((total, one) => total + one, 0);
/** Types of events that occurred in any story. */
const seen = new Set<string>();

describe('properties of held money', () => {
  it('the ledger agrees with the bank’s books after every step (2,000 histories)', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 40 }), (steps) => {
        const story = new Story();
        for (const one of steps) {
          story.play(one);
          const { balances, state, bank } = story;
          expect(-balances.provider_clearing, 'what lies at the bank').to.equal(bank.lies);
          expect(sum(Object.values(balances)), 'double entry').to.equal(0);
          const { transaction } = state;
          const owed = transaction.incomingPayments.filter(
            ({ outcome }) => !['settled', 'returned', 'paidOut', 'writtenOff'].includes(outcome),
          );
          const claims = sum(lateConfirmations(transaction).map(({ amount }) => amount));
          expect(balances.payer_returns, 'owed to payers').to.equal(sum(owed.map(({ amount }) => amount)) - claims);
          const settlementFee = transaction.status === 'settled' ? transaction.settlement.providerFee : 0;
          expect(balances.provider_fees, 'the bank’s fees').to.equal(bank.fees + settlementFee);
        }
        for (const { type } of story.events) seen.add(type);
      }),
      { numRuns: 2_000 },
    );
    expect([...seen]).to.include.members([
      'TransactionHeldPayoutPaid',
      'TransactionHeldPayoutFailed',
      'TransactionHeldWrittenOff',
      'TransactionReturnConfirmedLate',
      'TransactionRefundConfirmedLate',
      'TransactionLateConfirmationWrittenOff',
    ]);
  });
  it('repeating a settlement, by either way after either way, only returns held_already_settled', () => {
    const ways = ['tesouraria@example.com', null];
    let settled = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 40 }), fc.constantFrom(...IDS), (steps, id) => {
        for (const first of ways) {
          const story = new Story();
          for (const one of steps) story.play(one);
          const settle = (pixOut: string | null) =>
            settleHeld({ pixOut, reason: 'x', id, payoutIdOf, by: 'operator' }, NOW)(story.state);
          if (!story.decide(settle(first))) return;
          for (const second of ways) expect(settle(second)).to.deep.equal(ALREADY_SETTLED);
          settled++;
        }
      }),
      { numRuns: 2_000 },
    );
    expect(settled).to.be.above(0);
  });
});
