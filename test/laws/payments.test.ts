// Properties of payments in random histories, made by the program’s decisions in any order and with repetitions.
import { expect } from 'chai';
import fc from 'fast-check';
import { instrumentExpiry } from '../../domain/charge/instruments.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { createCharge } from '../../domain/payment/create.ts';
import { exists, type PaymentEvent } from '../../domain/payment/payment.ts';
import { chargeView } from '../../domain/presentation/charge.ts';
import { messagesOf, paymentPublisher } from '../../domain/presentation/messages.ts';
import { PUBLIC_STATUS_OF, type TransactionStatus, transactionStatus } from '../../domain/presentation/status.ts';
import { transactionView } from '../../domain/presentation/transaction.ts';
import { histories, METHODS, run, type Step } from '../support/paymentHistories.ts';
import { SOMEBODY_ELSE, terms } from '../support/samples.ts';

const forAll = (property: (isLocked: boolean, steps: readonly Step[]) => void) => {
  fc.assert(
    fc.property(histories, ([isLocked, steps]) => property(isLocked, steps)),
    { numRuns: 400 },
  );
};

describe('properties of payments', () => {
  it('every decision is idempotent', () => {
    forAll((isLocked, steps) => {
      run(isLocked, steps, (before, { decide, name }, after) => {
        const once = decide(before);
        const again = decide(after);
        if (isRejection(once)) expect(isRejection(again) && again.code, name).to.equal(once.code);
        // Settling a mismatch again is rejected, because it is settled already (Q1).
        else if (name.startsWith('mismatch')) expect(isRejection(again) && again.code, name).to.equal('case_not_open');
        else expect(isRejection(again) ? again : again.events, name).to.deep.equal([]);
      });
    });
  });

  it('a settlement repeated at any later point is a duplicate', () => {
    forAll((isLocked, steps) => {
      const { state } = run(isLocked, steps);
      for (const { decide, name } of steps.filter((step) => step.name.startsWith('settle')))
        expect(decide(state), name).to.deep.equal({ events: [], reply: 'duplicate' });
    });
  });

  it('a payment settles at most once, with the right amount, in time, from the right payer', () => {
    forAll((isLocked, steps) => {
      const { events, told } = run(isLocked, steps);
      const wasReleased = events.some(({ type }) => type === 'TransactionHeldReleased');
      const settlements = told.filter(({ event }) => event.type === 'TransactionSettled');
      expect(settlements.length).to.be.at.most(1);
      for (const { event, before } of settlements) {
        if (event.type !== 'TransactionSettled' || !exists(before)) throw new Error('a settlement of nothing');
        const { amount, payer, paidAt, method } = event.data.incoming;
        expect(amount).to.equal(12_345);
        expect(paidAt <= (instrumentExpiry(before.charge.instruments, method) ?? '')).to.equal(true);
        if (isLocked) expect(payer.document).to.not.equal(SOMEBODY_ELSE);
        if (isLocked && payer.document === null) expect(wasReleased).to.equal(true);
      }
    });
  });

  it('the public status is a function of the transaction status', () => {
    forAll((isLocked, steps) => {
      for (const { after } of run(isLocked, steps).told) {
        if (!exists(after)) throw new Error('a payment that does not exist');
        expect(transactionView(after).status).to.equal(transactionStatus(after));
        expect(chargeView(after).status).to.equal(PUBLIC_STATUS_OF[transactionStatus(after)]);
      }
    });
  });

  it('CANCELLED, REFUSED and REFUNDED are final, CHARGEBACK and DISPUTE end only in the merchant’s favor, and nothing returns to PENDING', () => {
    const FINAL: readonly TransactionStatus[] = ['CANCELLED', 'REFUSED', 'REFUNDED'];
    const DISPUTED: readonly TransactionStatus[] = ['CHARGEBACK', 'DISPUTE'];
    forAll((isLocked, steps) => {
      for (const { before, after } of run(isLocked, steps).told) {
        if (!exists(before) || !exists(after)) continue;
        const [from, to] = [transactionStatus(before), transactionStatus(after)];
        if (FINAL.includes(from)) expect(to).to.equal(from);
        if (DISPUTED.includes(from) && to !== from)
          expect(after.transaction).to.have.nested.property('dispute.moneyOutcome', 'refunded_to_merchant');
        if (from !== 'PENDING') expect(to).to.not.equal('PENDING');
      }
    });
  });

  it('a charge has a failure if and only if it is failed, canceled or expired', () => {
    forAll((isLocked, steps) => {
      for (const { after } of run(isLocked, steps).told) {
        if (!exists(after)) throw new Error('a payment that does not exist');
        const { status, metadata } = chargeView(after);
        expect(Object.hasOwn(metadata, 'failure')).to.equal(['failed', 'cancelled', 'expired'].includes(status));
      }
    });
  });

  it('payment.status_changed is sent if and only if the status changed, except at creation (W9, W9a)', () => {
    forAll((isLocked, steps) => {
      for (const { before, event, after } of run(isLocked, steps).told) {
        const types = messagesOf(before, event, after).map(({ type }) => type);
        if (!exists(before) || !exists(after)) {
          expect(types).to.deep.equal([]);
          continue;
        }
        const isCreation = before.charge.status === 'requested' && after.charge.status === 'open';
        const hasChanged = transactionStatus(before) !== transactionStatus(after);
        expect(types.includes('payment.status_changed'), event.type).to.equal(hasChanged && !isCreation);
        expect(types.includes('charge.created')).to.equal(isCreation);
      }
    });
  });

  it('created, paid, failed and expired are announced at most once each', () => {
    const ONCE = ['charge.created', 'charge.paid', 'charge.failed', 'charge.expired', 'payment.completed'];
    forAll((isLocked, steps) => {
      const types = run(isLocked, steps).told.flatMap(({ before, event, after }) =>
        messagesOf(before, event, after).map(({ type }) => type),
      );
      for (const name of ONCE) expect(types.filter((type) => type === name).length, name).to.be.at.most(1);
      const isPaid = types.includes('charge.paid');
      expect(isPaid && types.includes('charge.failed')).to.equal(false);
    });
  });

  it('frequent events publish only the messages declared for them', () => {
    forAll((isLocked, steps) => {
      for (const { before, event, after } of run(isLocked, steps).told) {
        const names = paymentPublisher.namesOf?.(event) ?? null;
        if (names === null) continue;
        expect(names).to.include.members(messagesOf(before, event, after).map(({ type }) => type));
        expect(paymentPublisher.catalogue.map((entry) => entry.event)).to.include.members(names);
      }
    });
  });

  it('a used id is rejected with other content and replayed with the same content', () => {
    const asking = (hash: string) =>
      createCharge({
        terms: terms({ methods: METHODS }),
        fingerprintUnder: () => hash,
        fingerprintVersion: 1,
        instrument: null,
        keyParam: 'Idempotency-Key',
      });
    forAll((isLocked, steps) => {
      const { state } = run(isLocked, steps);
      const other = asking('hash-of-another-request')(state);
      expect(isRejection(other) && other.code).to.equal('idempotency_key_reused');
      expect(asking('hash-of-the-request')(state)).to.deep.equal({ events: [], reply: 'replayed' });
    });
  });
});

describe('random histories', () => {
  it('contain every type of event that decisions write', () => {
    const seen = new Set<PaymentEvent['type']>();
    const read = new Set<TransactionStatus>();
    for (const [isLocked, steps] of fc.sample(histories, { numRuns: 6_000, seed: 5 }))
      for (const { event, after } of run(isLocked, steps).told) {
        seen.add(event.type);
        if (exists(after)) read.add(transactionStatus(after));
      }
    expect([...read].sort()).to.deep.equal(Object.keys(PUBLIC_STATUS_OF).sort());
    expect([...seen].sort()).to.deep.equal([
      'ChargeCancelRequested',
      'ChargeCancelled',
      'ChargeCreated',
      'ChargeExpired',
      'ChargeFailed',
      'ChargeInstrumentIssued',
      'ChargeInstrumentRefused',
      'ChargePixIssued',
      'TransactionDisputeOpened',
      'TransactionDisputeResolved',
      'TransactionDisputeReturned',
      'TransactionDisputeSettled',
      'TransactionDisputeUpdated',
      'TransactionFundsReleased',
      'TransactionHeld',
      'TransactionHeldRejected',
      'TransactionHeldReleased',
      'TransactionPaymentRejected',
      'TransactionPaymentReturned',
      'TransactionProcessing',
      'TransactionRefundCompleted',
      'TransactionRefundReleased',
      'TransactionRefundReserved',
      'TransactionRefused',
      'TransactionReturnRefused',
      'TransactionReturnRetried',
      'TransactionReturnedOutside',
      'TransactionSettled',
    ]);
  });
});
