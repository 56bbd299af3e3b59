// The expected reactions of the processes for payments to each event of the log (test/application/reactions.test.ts).
import { type Answers, clear, job, TOMORROW, timer } from '../../support/reactionLog.ts';
import { ACCOUNT_ID, at, END_TO_END_ID, EXPIRES_AT, PAYMENT_ID } from '../../support/samples.ts';

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
    'charge cancelled': [clear('expire')],
    'settled at once': [clear('expire')],
    'settled and held back': [clear('expire')],
    'payment held': [clear('expire')],
    'payer differs': [clear('expire')],
  },
  fundsRelease: { 'settled and held back': [timer('releaseFunds', PAYMENT_ID, TOMORROW)] },
  rejectedPaymentReturn: {
    'wrong amount': [back],
    'second payment': [back],
    'charge ended': [back],
    'payer differs': [back],
    'held sent back': [back],
    'held cancelled': [back],
    'return asked for again': [back],
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
  'settled at once',
  'settled and held back',
  'payment held',
  'wrong amount',
  'second payment',
  'charge ended',
  'payer differs',
  'payment returned',
  'card issued',
  'charge cancelled',
  'resend requested',
  'card in flight',
  'card declined',
  'card declined for good',
  'held sent back',
  'held cancelled',
  'HeldPayoutPaid',
  'HeldWrittenOff',
];
