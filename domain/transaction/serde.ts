// Stored format of transaction events.

import { PAYMENT_METHODS } from '../charge/methods.ts';
import { CASE_STATUSES, CASE_TYPES, DISPUTE_METHODS, MONEY_OUTCOMES } from '../dispute/medCase.ts';
import { CASE_CHANGES, type CaseSnapshot } from '../dispute/snapshot.ts';
import { fingerprintShape } from '../kernel/fingerprint.ts';
import { flag, integer, money, nullable, oneOf, record, type SerdeTable, text, time } from '../kernel/serde.ts';
import type { HeldSettlementEvent } from './heldSettlement.ts';
import type { IncomingPayment, Payer } from './incomingPayment.ts';
import type { TransactionEvent } from './transaction.ts';

const method = oneOf(...PAYMENT_METHODS);
const incoming = record<IncomingPayment>({
  method,
  providerPaymentId: text(),
  amount: money,
  payer: record<Payer>({ name: nullable(text()), document: nullable(text()) }),
  paidAt: time,
});
const moved = { amount: money, currency: text(), at: time };
const refundFee = { fee: money, feePaidBy: oneOf('merchant', 'platform') };

const heldSettlementSerde: SerdeTable<HeldSettlementEvent> = {
  TransactionHeldPayoutRequested: {
    version: 1,
    shape: record({
      providerPaymentId: text(),
      payoutId: text(),
      ...moved,
      destination: text(),
      fee: money,
      reason: text(),
      by: text(),
    }),
    personal: ['destination', 'reason'],
  },
  TransactionHeldPayoutPaid: {
    version: 1,
    shape: record({ providerPaymentId: text(), payoutId: text(), ...moved, fee: money, endToEndId: nullable(text()) }),
    personal: [],
  },
  TransactionHeldPayoutFailed: {
    version: 1,
    shape: record({ providerPaymentId: text(), payoutId: text(), reason: text(), at: time }),
    personal: ['reason'],
  },
  TransactionHeldWrittenOff: {
    version: 1,
    shape: record({ providerPaymentId: text(), ...moved, reason: text(), by: text() }),
    personal: ['reason'],
  },
  TransactionReturnConfirmedLate: {
    version: 1,
    shape: record({ providerPaymentId: text(), id: text(), ...moved, fee: money }),
    personal: [],
  },
  TransactionRefundConfirmedLate: {
    version: 1,
    shape: record({ refundId: text(), ...moved, fee: money, endToEndId: nullable(text()) }),
    personal: [],
  },
  TransactionLateConfirmationWrittenOff: {
    version: 1,
    shape: record({ id: text(), ...moved, reason: text(), by: text() }),
    personal: ['reason'],
  },
};

export const transactionSerde: SerdeTable<TransactionEvent> = {
  TransactionProcessing: { version: 1, shape: record({ method, at: time }), personal: [] },
  TransactionRefused: {
    version: 1,
    shape: record({ method, reason: text(), providerErrorCode: text(), isFinal: flag, at: time }),
    personal: [],
  },
  TransactionSettled: {
    version: 1,
    shape: record({
      incoming,
      method,
      currency: text(),
      providerFee: money,
      platformFee: money,
      netAmount: money,
      availableAt: nullable(time),
      at: time,
    }),
    personal: ['incoming.payer'],
    unsaid: { availableAt: { usually: null } },
  },
  TransactionHeld: {
    version: 1,
    shape: record({ incoming, currency: text(), at: time }),
    personal: ['incoming.payer'],
  },
  TransactionHeldReleased: {
    version: 1,
    shape: record({ providerPaymentId: text(), ...moved, by: text() }),
    personal: [],
  },
  TransactionHeldRejected: {
    version: 1,
    shape: record({
      providerPaymentId: text(),
      ...moved,
      returnId: text(),
      reason: oneOf('operator', 'cancelled'),
      by: text(),
    }),
    personal: [],
  },
  TransactionPaymentRejected: {
    version: 1,
    shape: record({
      incoming,
      currency: text(),
      reason: oneOf('wrong_amount', 'second_payment', 'charge_ended', 'payer_mismatch'),
      returnId: text(),
      at: time,
    }),
    personal: ['incoming.payer'],
  },
  TransactionPaymentReturned: { version: 1, shape: record({ providerPaymentId: text(), ...moved }), personal: [] },
  TransactionReturnRefused: {
    version: 1,
    shape: record({ providerPaymentId: text(), ...moved, reason: text() }),
    personal: ['reason'],
  },
  TransactionReturnRetried: {
    version: 1,
    shape: record({ providerPaymentId: text(), returnId: text(), by: text(), at: time }),
    personal: [],
  },
  ...heldSettlementSerde,
  TransactionFundsReleased: { version: 1, shape: record(moved), personal: [] },
  TransactionRefundReserved: {
    version: 1,
    shape: record({
      refundId: text(),
      amount: money,
      currency: text(),
      reason: nullable(text()),
      strategy: oneOf('devolution', 'cashout', 'reversal'),
      destination: nullable(text()),
      namedByMerchant: flag,
      ...refundFee,
      fingerprint: fingerprintShape,
      at: time,
    }),
    personal: ['reason', 'destination'],
  },
  TransactionRefundCompleted: {
    version: 1,
    shape: record({ refundId: text(), ...moved, ...refundFee, endToEndId: nullable(text()) }),
    personal: [],
  },
  TransactionRefundReleased: {
    version: 1,
    shape: record({ refundId: text(), ...moved, ...refundFee, reason: text() }),
    personal: [],
  },
  TransactionDisputeOpened: {
    version: 1,
    shape: record({
      caseId: text(),
      kind: oneOf('CHARGEBACK', 'DISPUTE'),
      ...moved,
      amountMismatch: flag,
      reportedAmount: money,
      method: nullable(oneOf(...DISPUTE_METHODS)),
      reason: nullable(text()),
      payer: record({ name: nullable(text()), document: nullable(text()) }),
      openedAt: time,
    }),
    personal: ['reason', 'payer'],
  },
  TransactionDisputeUpdated: {
    version: 1,
    shape: record({
      revision: integer,
      change: oneOf(...CASE_CHANGES),
      medCase: record<CaseSnapshot>({
        caseId: text(),
        type: oneOf(...CASE_TYPES),
        status: oneOf(...CASE_STATUSES),
        amount: money,
        currency: text(),
        reason: nullable(text()),
        responseDeadline: nullable(time),
        evidenceRequestedAt: nullable(time),
        appealReason: nullable(text()),
        appealedAt: nullable(time),
        evidenceCount: integer,
        moneyOutcome: nullable(oneOf(...MONEY_OUTCOMES)),
        openedAt: time,
        closedAt: nullable(time),
        createdAt: time,
        updatedAt: time,
      }),
      ending: nullable(oneOf('agreed', 'disagreed', 'withdrawn')),
      ruledAt: nullable(time),
      announced: flag,
      at: time,
    }),
    personal: ['medCase.reason', 'medCase.appealReason'],
  },
  TransactionDisputeSettled: {
    version: 1,
    shape: record({
      caseId: text(),
      verdict: oneOf('held', 'lost', 'nothing'),
      ...moved,
      reason: text(),
      by: text(),
      announced: flag,
    }),
    personal: ['reason'],
  },
  TransactionDisputeReturned: { version: 1, shape: record({ caseId: text(), ...moved }), personal: [] },
  TransactionDisputeResolved: {
    version: 1,
    shape: record({
      caseId: text(),
      moneyOutcome: oneOf(...MONEY_OUTCOMES),
      ...moved,
      reportedAmount: money,
      announced: flag,
    }),
    personal: [],
  },
};
