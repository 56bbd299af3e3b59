// Properties of money in random histories of payments: the ledger agrees with the payment, and no money is given twice.

import { expect } from 'chai';
import fc from 'fast-check';
import { LEDGER_ACCOUNTS } from '../../domain/aggregates.ts';
import type { LedgerAccount } from '../../domain/kernel/journal.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import type { PaymentEvent, PaymentState } from '../../domain/payment/payment.ts';
import { journalEntry } from '../../domain/payment/postings.ts';
import { reserveRefund } from '../../domain/payment/refund.ts';
import { lateConfirmations } from '../../domain/payment/settleHeld.ts';
import { isDisputed, lostBefore } from '../../domain/transaction/disputes.ts';
import { leftOf } from '../../domain/transaction/incomingPayment.ts';
import { leftOfPaid, type RefundRecord, refundableRest } from '../../domain/transaction/refunds.ts';
import { type History, histories, run } from '../support/paymentHistories.ts';
import { at } from '../support/samples.ts';

const forAll = (property: (history: History) => void) => {
  fc.assert(
    fc.property(histories, ([isLocked, steps]) => property(run(isLocked, steps))),
    { numRuns: 400 },
  );
};
const balances = (events: readonly PaymentEvent[]): { readonly [A in LedgerAccount]: number } => {
  const sums = Object.fromEntries(LEDGER_ACCOUNTS.map((account) => [account, 0])) as Record<LedgerAccount, number>;
  for (const event of events)
    for (const { account, amount } of journalEntry(event)?.postings ?? []) sums[account] += amount;
  return sums;
};
const sum = (amounts: readonly number[]): number => amounts.reduce((total, one) => total + one, 0);
const taken = ({ amount, fee, feePaidBy }: RefundRecord): number => amount + (feePaidBy === 'merchant' ? fee : 0);
const refundsOf = ({ transaction }: PaymentState, ...statuses: RefundRecord['outcome']['status'][]) =>
  transaction.status === 'settled'
    ? transaction.refunds.filter(({ outcome }) => statuses.includes(outcome.status))
    : [];

const isPaidByPlatform = (event: PaymentEvent) =>
  event.type === 'TransactionHeldPayoutPaid' || event.type === 'TransactionReturnConfirmedLate';
const writtenOffBy = ({ type, data }: PaymentEvent): number => {
  if (type === 'TransactionHeldWrittenOff') return data.amount;
  return type === 'TransactionLateConfirmationWrittenOff' ? -data.amount : 0;
};

const outsideOf = (event: PaymentEvent, owner?: 'merchant'): number =>
  event.type === 'TransactionReturnedOutside' && (owner ?? event.data.owner) === event.data.owner
    ? event.data.amount
    : 0;

describe('properties of money', () => {
  it('the postings of every event sum to zero', () => {
    forAll(({ events }) => {
      for (const event of events)
        expect(sum((journalEntry(event)?.postings ?? []).map(({ amount }) => amount)), event.type).to.equal(0);
    });
  });

  it('the merchant’s balances are the net amount minus refunds and disputes', () => {
    forAll(({ events, state }) => {
      const { transaction } = state;
      const { merchant_available, merchant_pending, merchant_retained, refunds_in_transit } = balances(events);
      const isSettled = transaction.status === 'settled';
      const net = isSettled ? transaction.settlement.netAmount : 0;
      const isPending = isSettled && transaction.settlement.availableAt !== null && transaction.releasedAt === null;
      const dispute = isSettled ? transaction.dispute : null;
      const disputed = isDisputed(dispute) ? dispute.amount : 0;
      const outside = sum(events.map((event) => outsideOf(event, 'merchant')));
      const out = sum(refundsOf(state, 'reserved', 'completed').map(taken));
      expect({ merchant_available, merchant_pending, merchant_retained, refunds_in_transit }).to.deep.equal({
        merchant_available: (isPending ? 0 : net) - out - disputed - lostBefore(dispute) - outside,
        merchant_pending: isPending ? net : 0,
        merchant_retained: dispute?.moneyOutcome === null && dispute.settling !== 'lost' ? disputed : 0, // Lost money no longer counts as retained.
        refunds_in_transit: sum(refundsOf(state, 'reserved').map(taken)),
      });
    });
  });

  it('fees equal those of the settlement and of paid Pix payouts, plus write-offs', () => {
    forAll(({ events, state }) => {
      const { transaction } = state;
      const settlement = transaction.status === 'settled' ? transaction.settlement : null;
      const paid = refundsOf(state, 'completed');
      const late = refundsOf(state, 'failed').filter((refund) => refund.late !== undefined);
      const ofPlatform = paid.filter(({ feePaidBy }) => feePaidBy === 'platform');
      const ofHeld = sum(events.map((event) => (isPaidByPlatform(event) ? event.data.fee : 0)));
      const writtenOff = sum(events.map((event) => writtenOffBy(event)));
      const { provider_fees, platform_fees } = balances(events);
      expect({ provider_fees, platform_fees }).to.deep.equal({
        provider_fees: (settlement?.providerFee ?? 0) + sum([...paid, ...late].map(({ fee }) => fee)) + ofHeld,
        platform_fees:
          (settlement?.platformFee ?? 0) - sum([...ofPlatform, ...late].map(({ fee }) => fee)) - ofHeld + writtenOff,
      });
    });
  });

  it('the amount owed to payers is what was rejected or held and not returned, minus overpayments to them', () => {
    forAll(({ events, state }) => {
      const owed = state.transaction.incomingPayments.filter(
        ({ outcome }) => !['settled', 'returned', 'paidOut', 'writtenOff'].includes(outcome),
      );
      const claims = lateConfirmations(state.transaction).map(({ amount }) => amount);
      expect(balances(events).payer_returns).to.equal(sum(owed.map(leftOf)) - sum(claims));
    });
  });

  it('each payment is returned at most once, in full, and never after its settlement', () => {
    forAll(({ events, state }) => {
      const arrived = new Map<string, number>();
      const back = new Map<string, number>();
      for (const { type, data } of events) {
        if ('incoming' in data) {
          // A held payment is settled later if an operator releases it. No other payment is decided twice.
          if (type !== 'TransactionSettled')
            expect(arrived.has(data.incoming.providerPaymentId), 'one outcome a payment').to.equal(false);
          arrived.set(data.incoming.providerPaymentId, data.incoming.amount);
        }
        if (type === 'TransactionPaymentReturned') {
          expect(back.has(data.providerPaymentId), 'returned once').to.equal(false);
          back.set(data.providerPaymentId, data.amount);
        }
      }
      const { incomingPayments } = state.transaction;
      for (const [id, amountBack] of back) {
        const seen = incomingPayments.find(({ providerPaymentId }) => providerPaymentId === id);
        expect(amountBack).to.equal(seen && leftOf(seen));
      }
      const outside = sum(events.map((event) => outsideOf(event)));
      if (state.transaction.status === 'settled')
        expect(back.has(state.transaction.settlement.incoming.providerPaymentId)).to.equal(false);
      const refunded = sum(refundsOf(state, 'completed').map(({ amount }) => amount));
      const given = sum(events.map(({ type, data }) => (type === 'TransactionDisputeReturned' ? data.amount : 0)));
      const posted = sum(
        events.map(({ type, data }) => (type === 'TransactionDisputeReturnCounted' ? data.posted : 0)),
      );
      const late = sum(
        events.map(({ type, data }) =>
          type === 'TransactionRefundConfirmedLate' || type === 'TransactionReturnConfirmedLate' ? data.amount : 0,
        ),
      );
      const paidOut = sum(events.map(({ type, data }) => (type === 'TransactionHeldPayoutPaid' ? data.amount : 0)));
      expect(-balances(events).provider_clearing).to.equal(
        sum([...arrived.values()]) - sum([...back.values()]) - refunded - given + posted - late - paidOut - outside,
      );
    });
  });

  it('refunds and dispute holds never exceed the paid amount', () => {
    forAll(({ told }) => {
      for (const { after } of told) {
        const { transaction } = after;
        if (transaction.status !== 'settled') continue;
        const { dispute } = transaction;
        const out = sum(refundsOf(after, 'reserved', 'completed').map(({ amount }) => amount));
        const rest = refundableRest(transaction);
        const disputed = (isDisputed(dispute) ? dispute.amount : 0) + lostBefore(dispute);
        expect(rest).to.equal(Math.max(0, leftOfPaid(transaction) - out - disputed));
        expect(rest).to.be.within(0, 12_345);
      }
    });
  });

  it('a used refund key is rejected with other content and returns the original with the same content', () => {
    forAll(({ state }) => {
      for (const refund of refundsOf(state, 'reserved', 'completed', 'failed')) {
        const { refundId, fingerprint } = refund;
        const rest = { amount: null, reason: null, strategy: null, passFeeToTenant: false };
        const asking = (hash: string) =>
          reserveRefund(
            {
              ...rest,
              refundId,
              fingerprintUnder: () => hash,
              fingerprintVersion: 1,
              destinationKey: null,
              paysOut: true,
              allowedDestinations: [],
            },
            at('23:00:00'),
          )(state);
        const other = asking('other');
        expect(isRejection(other) && other.code).to.equal('idempotency_key_reused');
        expect(asking(fingerprint.hash)).to.deep.equal({
          events: [],
          reply: { refund: { ...refund, outcome: { status: 'reserved' } }, replayed: true },
        });
      }
    });
  });
});
