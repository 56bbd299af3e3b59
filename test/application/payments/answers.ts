// The expected reactions of the processes for payments to each event of the log (test/application/reactions.test.ts).
import { type Answers, clear, job, TOMORROW, timer } from '../../support/reactionLog.ts';
import { ACCOUNT_ID, at, CREATED_AT, END_TO_END_ID, EXPIRES_AT, PAYMENT_ID } from '../../support/samples.ts';

const back = job('returnPayment', { paymentId: PAYMENT_ID, providerPaymentId: END_TO_END_ID });

/** By process and by name in the log. Events that are not listed cause no reaction. */
export const ANSWERS: Answers = {
  instrumentIssuing: {
    'charge created': [{ ...timer('resumeIssuing', PAYMENT_ID, at('13:01:00')), first: true }],
    'payment created': [
      { ...timer('resumeIssuing', PAYMENT_ID, at('13:09:00')), first: true },
      job('issueInstruments', { paymentId: PAYMENT_ID }),
    ],
    'payment of two methods created': [
      { ...timer('resumeIssuing', `${PAYMENT_ID} all`, at('13:09:00')), first: true },
      job('issueInstruments', { paymentId: PAYMENT_ID }),
    ],
    'pix issued': [clear('resumeIssuing')],
    'card issued': [clear('resumeIssuing')],
    'charge failed': [clear('resumeIssuing')],
    'charge cancelled': [clear('resumeIssuing')],
  },
  expiry: {
    'pix issued': [timer('expire', PAYMENT_ID, EXPIRES_AT)],
    'card issued': [timer('expire', `${PAYMENT_ID} CREDIT_CARD`, at('13:30:00'))],
    'card refused': [timer('expire', `${PAYMENT_ID} CREDIT_CARD`, CREATED_AT)],
    'charge cancelled': [clear('expire')],
    'settled and available': [clear('expire')],
    'settled and pending': [clear('expire')],
    'payment held': [clear('expire')],
    'payer differs': [clear('expire')],
  },
  fundsRelease: { 'settled and pending': [timer('releaseFunds', PAYMENT_ID, TOMORROW)] },
  rejectedPaymentReturn: {
    'wrong amount': [back],
    'second payment': [back],
    'charge ended': [back],
    'payer differs': [back],
    'held payment rejected': [back],
    'held payment rejected by a cancellation': [back],
    'return requested again': [back],
  },
  cancellation: {
    'cancel requested': [timer('cancel', PAYMENT_ID, at('13:10:05'), ACCOUNT_ID)],
    'charge cancelled': [clear('cancel')],
  },
};

/** The events in the log for which endpoints receive messages. */
export const TOLD: readonly string[] = [
  'returned outside',
  'pix issued',
  'charge failed',
  'charge expired',
  'settled and available',
  'settled and pending',
  'payment held',
  'wrong amount',
  'second payment',
  'charge ended',
  'payer differs',
  'payment returned',
  'card issued',
  'charge cancelled',
  'resend requested',
  'card payment in progress',
  'card declined',
  'last method declined',
  'held payment rejected',
  'held payment rejected by a cancellation',
  'HeldPayoutPaid',
  'HeldWrittenOff',
];
