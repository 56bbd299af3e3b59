// What each process manager answers to each event: pure, exact, and the same when asked again (architecture §7).

import { expect } from 'chai';
import { PROCESSES } from '../../application/capabilities.ts';
import { caseMailing } from '../../application/disputes/caseMails.ts';
import { caseDeadlines } from '../../application/disputes/deadlines.ts';
import { caseSettling } from '../../application/disputes/owedReports.ts';
import { caseTelling } from '../../application/disputes/tellPayment.ts';
import { cancellation } from '../../application/payments/cancellation.ts';
import { expiry } from '../../application/payments/expiry.ts';
import { fundsRelease } from '../../application/payments/fundsRelease.ts';
import { instrumentIssuing } from '../../application/payments/issueInstruments.ts';
import { rejectedPaymentReturn } from '../../application/payments/rejectedPaymentReturn.ts';
import { payoutExecution } from '../../application/payouts/payoutExecution.ts';
import type { ProcessManager, Subscriptions } from '../../application/ports/processManager.ts';
import { refundExecution } from '../../application/refunds/refundExecution.ts';
import { testClock } from '../../application/sandbox/testClock.ts';
import { webhookDelivery } from '../../application/webhooks/webhookDelivery.ts';
import { webhookFanOut } from '../../application/webhooks/webhookFanOut.ts';
import { CATEGORIES, SERDE } from '../../domain/aggregates.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { PAYOUT_ID } from '../domain/payout/samples.ts';
import {
  attemptFailed,
  clear,
  DAY_BEFORE,
  DELIVERY,
  ENDPOINT,
  job,
  LATER,
  LOG,
  logged,
  REVISION,
  reactions,
  TOMORROW,
  timer,
} from '../support/reactionLog.ts';
import {
  ACCOUNT_ID,
  at,
  CASE_ID,
  created,
  END_TO_END_ID,
  EXPIRES_AT,
  issued,
  PAYMENT_ID,
  REFUND_ID,
  sentBack,
  settled,
} from '../support/samples.ts';

const PAYOUT = { payoutId: PAYOUT_ID };
const PAYOUTS_NOW = [{ kind: 'fireNow', timers: { kind: 'payout', group: ACCOUNT_ID } }];
const CASE = { caseId: CASE_ID };
const mailed = [job('mailCase', { ...CASE, revision: REVISION })];
const told = [job('tellPayment', CASE)];
const answered = [clear('remindOfDeadline', CASE_ID)];
const REFUND = { paymentId: PAYMENT_ID, refundId: REFUND_ID };
const confirmedLate = (id: string) => [
  {
    kind: 'effect',
    effect: 'confirmedLate',
    about: { accountId: ACCOUNT_ID, mode: 'test', paymentId: PAYMENT_ID, id },
  },
];
const back = job('returnPayment', { paymentId: PAYMENT_ID, providerPaymentId: END_TO_END_ID });
const afresh = [
  { kind: 'effect', effect: 'forgetFailures', about: ENDPOINT },
  { kind: 'fireNow', timers: { kind: 'deliver', group: ENDPOINT } },
];
/** By process: its answers. What is not named here is answered with nothing. */
const ANSWERS: readonly (readonly [ProcessManager, { readonly [name: string]: readonly object[] }])[] = [
  [
    instrumentIssuing,
    {
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
  ],
  [
    expiry,
    {
      'pix issued': [timer('expire', PAYMENT_ID, EXPIRES_AT)],
      'card issued': [timer('expire', `${PAYMENT_ID} CREDIT_CARD`, at('13:30:00'))],
      'charge cancelled': [clear('expire')],
      'settled at once': [clear('expire')],
      'settled and held back': [clear('expire')],
      'payment held': [clear('expire')],
      'payer differs': [clear('expire')],
    },
  ],
  [fundsRelease, { 'settled and held back': [timer('releaseFunds', PAYMENT_ID, TOMORROW)] }],
  [
    rejectedPaymentReturn,
    {
      'wrong amount': [back],
      'second payment': [back],
      'charge ended': [back],
      'payer differs': [back],
      'held sent back': [back],
      'held cancelled': [back],
      'return asked for again': [back],
    },
  ],
  [
    cancellation,
    {
      'cancel requested': [timer('cancel', PAYMENT_ID, at('13:10:05'), ACCOUNT_ID)],
      'charge cancelled': [clear('cancel')],
    },
  ],
  [
    payoutExecution,
    {
      'payout requested': [job('payout', PAYOUT)],
      'payout approved': [job('payout', PAYOUT)],
      'payout rejected': [clear('payout', PAYOUT_ID)],
      'payout cancelled': [clear('payout', PAYOUT_ID)],
      'payout submitted': [timer('payout', PAYOUT_ID, at('15:00:02'), ACCOUNT_ID)],
      'payout unknown': [timer('payout', PAYOUT_ID, at('15:00:02'), ACCOUNT_ID)],
      'payout paid': [clear('payout', PAYOUT_ID)],
      'payout failed': [clear('payout', PAYOUT_ID)],
      'payout confirmed late': [
        { kind: 'effect', effect: 'payoutConfirmedLate', about: { ...PAYOUT, accountId: ACCOUNT_ID, mode: 'test' } },
      ],
      'sandbox confirms refunds': PAYOUTS_NOW,
      'account reopened': PAYOUTS_NOW,
    },
  ],
  [
    refundExecution,
    {
      'refund reserved': [job('refund', REFUND)],
      HeldPayoutRequested: [job('refund', REFUND)],
      ReturnConfirmedLate: confirmedLate(END_TO_END_ID),
      RefundConfirmedLate: confirmedLate(REFUND_ID),
      'refund confirmed late': [clear('refund', REFUND_ID), job('refund', REFUND)],
      'refund submitted': [timer('refund', REFUND_ID, at('15:00:03'), ACCOUNT_ID)],
      'refund unknown': [timer('refund', REFUND_ID, at('15:00:03'), ACCOUNT_ID)],
      'refund paid': [clear('refund', REFUND_ID), job('refund', REFUND)],
      'refund failed': [clear('refund', REFUND_ID), job('refund', REFUND)],
      'sandbox confirms refunds': [{ kind: 'fireNow', timers: { kind: 'refund', group: ACCOUNT_ID } }],
      'account reopened': [{ kind: 'fireNow', timers: { kind: 'refund', group: ACCOUNT_ID } }],
    },
  ],
  [
    caseTelling,
    {
      'case opened': told,
      'case without a deadline opened': told,
      'case EvidenceRequested': told,
      'case Appealed': told,
      'case Accepted': told,
      'case Rejected': told,
      'case Closed': told,
      'case Settled': told,
      'case LateReported': told,
    },
  ],
  [
    caseSettling,
    {
      'dispute settled': [job('followSettling', { paymentId: PAYMENT_ID, revision: REVISION })],
      'dispute resolved': [job('takeOwedReports', { paymentId: PAYMENT_ID })],
      'held let pass': [job('takeOwedReports', { paymentId: PAYMENT_ID })],
    },
  ],
  [
    caseDeadlines,
    {
      'case opened': [timer('remindOfDeadline', CASE_ID, DAY_BEFORE)],
      'case Appealed': answered,
      'case Accepted': answered,
      'case Rejected': answered,
      'case Closed': answered,
      'case Settled': answered,
    },
  ],
  [
    caseMailing,
    {
      'case opened': mailed,
      'case without a deadline opened': mailed,
      'case EvidenceRequested': mailed,
      'case DeadlineNeared': mailed,
      'case Accepted': mailed,
      'case Rejected': mailed,
      'case Closed': mailed,
      'case Settled': mailed,
    },
  ],
  [webhookFanOut, {}], // nobody listens; see below
  [
    webhookDelivery,
    {
      'attempt failed': [timer('deliver', DELIVERY, LATER, ENDPOINT)],
      'delivery cancelled': [clear('deliver', DELIVERY)],
      'retry asked for': [timer('deliver', DELIVERY, LATER, ENDPOINT)],
      'endpoint deleted': afresh,
      'endpoint sent elsewhere': afresh,
      'endpoint made inactive': afresh,
      'endpoint made active': afresh,
    },
  ],
  [
    testClock,
    {
      'clock advanced': [
        { kind: 'effect', effect: 'clockAdvance', about: { account: ACCOUNT_ID, seconds: 90, until: LATER } },
        job('drainClock', { accountId: ACCOUNT_ID }),
      ],
    },
  ],
];

describe('reactions', () => {
  it('are tested of every process manager there is', () =>
    void expect(ANSWERS.map(([process]) => process.name).sort()).to.deep.equal(
      PROCESSES.map(({ name }) => name).sort(),
    ));

  it('are asked for with every type of event but those of keys, of users and of the consumers themselves', () => {
    const types = CATEGORIES.filter((category) => !['keyring', 'user', 'logConsumer'].includes(category)).flatMap(
      (category) => SERDE[category].types,
    );
    expect([...new Set(Object.values(LOG).map(({ event }) => event.type))].sort()).to.deep.equal([...types].sort());
  });

  for (const [process, answers] of ANSWERS)
    describe(`of ${process.name}`, () => {
      for (const [name, event] of Object.entries(LOG))
        it(`${name}: ${(answers[name] ?? []).length}`, () =>
          void expect(reactions(process, event)).to.deep.equal(answers[name] ?? []));
      it('name nothing that is not logged', () =>
        void expect(LOG).to.include.all.keys('charge created', ...Object.keys(answers)));
      it('are to categories that it follows', () => {
        const answered = Object.keys(answers).map((name) => LOG[name]!.category);
        expect(process.categories).to.include.members(answered);
      });
    });

  it('set timers in the mode of the event', () => {
    for (const [process, event, expected] of [
      [expiry, issued(), timer('expire', PAYMENT_ID, EXPIRES_AT, null, 'live')],
      [fundsRelease, settled({ availableAt: TOMORROW }), timer('releaseFunds', PAYMENT_ID, TOMORROW, null, 'live')],
      [
        instrumentIssuing,
        created(),
        { ...timer('resumeIssuing', PAYMENT_ID, at('13:01:00'), null, 'live'), first: true },
      ],
    ] as const)
      expect(reactions(process, logged('payment', event, 'live'))).to.deep.equal([expected]);
    expect(reactions(webhookDelivery, logged('webhookDelivery', attemptFailed(LATER), 'live'))).to.deep.equal([
      timer('deliver', DELIVERY, LATER, ENDPOINT, 'live'),
    ]);
  });

  it('name the Pix that goes back, not another of the same payment', () => {
    for (const providerPaymentId of ['E-one', 'E-two'])
      expect(
        reactions(rejectedPaymentReturn, logged('payment', sentBack('second_payment', { providerPaymentId }))),
      ).to.deep.equal([job('returnPayment', { paymentId: PAYMENT_ID, providerPaymentId })]);
  });

  describe('of webhookFanOut, with listeners', () => {
    const fanOutTo = (...endpointIds: string[]) =>
      job('fanOut', { stream: PAYMENT.stream(PAYMENT_ID), revision: REVISION, endpointIds });
    const PAYOUTS_TOLD = /^payout (requested|that awaits approval|rejected|cancelled|paid|failed|confirmed late)$/;
    const payoutFanOut = job('fanOut', {
      stream: `payout-${PAYOUT_ID}`,
      revision: REVISION,
      endpointIds: ['a', 'b'],
    });
    const asked: string[] = [];
    const listening = (...ids: string[]): Subscriptions => ({
      endpoints: (account, mode) => {
        asked.push(`${account} ${mode}`);
        return ids.map((endpointId) => ({ endpointId, events: ['charge.paid'] }));
      },
      hasWebhookUrls: () => false,
    });
    beforeEach(() => void asked.splice(0));
    const TOLD = [
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
      'refund reserved',
      'refund completed',
      'refund released',
      'HeldPayoutPaid',
      'HeldWrittenOff',
      'dispute opened',
      'dispute updated',
      'dispute settled',
      'dispute resolved',
    ];
    for (const [name, event] of Object.entries(LOG)) {
      const ofPayout = PAYOUTS_TOLD.test(name) ? [payoutFanOut] : [];
      const expected = TOLD.includes(name) ? [fanOutTo('a', 'b')] : ofPayout;
      it(`${name}: ${expected.length}`, () =>
        void expect(reactions(webhookFanOut, event, listening('a', 'b'))).to.deep.equal(expected));
    }
    it('without endpoints, of accounts and modes whose payments have a webhookUrl', () => {
      const withUrls = (mode: string): Subscriptions => ({
        endpoints: () => [],
        hasWebhookUrls: (account, asked) => account === ACCOUNT_ID && asked === mode,
      });
      expect(reactions(webhookFanOut, logged('payment', settled()), withUrls('test'))).to.deep.equal([fanOutTo()]);
      expect(reactions(webhookFanOut, logged('payment', settled()), withUrls('live'))).to.deep.equal([]);
      expect(reactions(webhookFanOut, logged('payment', created()), withUrls('test'))).to.deep.equal([]);
    });
    it('asks for the endpoints of the event’s account and mode', () => {
      for (const mode of ['test', 'live']) {
        const event = logged('payment', settled(), mode);
        expect(webhookFanOut.react(event, listening('a'))).to.deep.equal([fanOutTo('a')]);
      }
      expect(asked).to.deep.equal([`${ACCOUNT_ID} test`, `${ACCOUNT_ID} live`]);
    });
  });
});
