// What each process manager answers to each event: pure, exact, and the same when asked again (architecture §7).
import { expect } from 'chai';
import { PROCESSES } from '../../application/capabilities.ts';
import { caseMailing } from '../../application/disputes/caseMails.ts';
import { caseDeadlines } from '../../application/disputes/deadlines.ts';
import { caseTelling } from '../../application/disputes/tellPayment.ts';
import { cancellation } from '../../application/payments/cancellation.ts';
import { expiry } from '../../application/payments/expiry.ts';
import { fundsRelease } from '../../application/payments/fundsRelease.ts';
import { instrumentIssuing } from '../../application/payments/issueInstruments.ts';
import { rejectedPaymentReturn } from '../../application/payments/rejectedPaymentReturn.ts';
import type { LoggedEvent } from '../../application/ports/loggedEvent.ts';
import type { ProcessManager, Reaction, Subscriptions } from '../../application/ports/processManager.ts';
import { refundExecution } from '../../application/refunds/refundExecution.ts';
import { testClock } from '../../application/sandbox/testClock.ts';
import { webhookDelivery } from '../../application/webhooks/webhookDelivery.ts';
import { webhookFanOut } from '../../application/webhooks/webhookFanOut.ts';
import { type AnyEvent, SERDE } from '../../domain/events.ts';
import { CATEGORIES } from '../../domain/kernel/event.ts';
import { deepFreeze } from '../support/deepFreeze.ts';
import { card, otherIssued } from '../support/instruments.ts';
import {
  ACCOUNT_ID,
  at,
  CASE_ID,
  CREATED_AT,
  cancelled,
  cancelRequested,
  created,
  disputeOpened,
  END_TO_END_ID,
  EXPIRES_AT,
  expired,
  failed,
  held,
  heldRejected,
  heldReleased,
  issued,
  PAYMENT_ID,
  processing,
  REFUND_ID,
  REFUNDED_AT,
  refundCompleted,
  refundReleased,
  refundReserved,
  refused,
  refusedInstrument,
  released,
  resendRequested,
  returned,
  returnRefused,
  returnRetried,
  sentBack,
  settled,
} from '../support/samples.ts';

const REVISION = 7;
const ENDPOINT = '1endpoint00000000000000000';
const DELIVERY = '2delivery00000000000000000';
/** Of a case, and a day before it. */
const [DEADLINE, DAY_BEFORE] = ['2026-11-24T15:00:00.000Z', '2026-11-23T15:00:00.000Z'];
const [LATER, TOMORROW] = [at('15:00:00'), at('23:00:00')];

const SUBJECTS = {
  payment: PAYMENT_ID,
  refund: REFUND_ID,
  medCase: CASE_ID,
  webhookDelivery: DELIVERY,
  webhookEndpoint: ENDPOINT,
  account: ACCOUNT_ID,
} as const;
type Category = keyof typeof SUBJECTS;
const logged = (category: Category, event: unknown, mode = 'test'): LoggedEvent =>
  deepFreeze({
    category,
    stream: `${category}-${SUBJECTS[category]}`,
    subject: SUBJECTS[category],
    id: 'event-1',
    revision: REVISION,
    position: '0001',
    account: ACCOUNT_ID,
    mode,
    correlationId: PAYMENT_ID,
    recordedAt: CREATED_AT,
    event: event as AnyEvent,
  }) as unknown as LoggedEvent;

const NO_SUBSCRIPTIONS: Subscriptions = { endpoints: () => [], hasWebhookUrls: () => false };
/** What it answers, twice. */
const reactions = (process: ProcessManager, event: LoggedEvent, context = NO_SUBSCRIPTIONS): readonly Reaction[] => {
  const first = process.react(event, context);
  expect(process.react(event, context)).to.deep.equal(first);
  return first;
};

/** `key`: what the payload names comes first in it. */
const timer = (kind: string, key: string, dueAt: string, group: string | null = null, mode = 'test') => ({
  kind: 'timer',
  timer: { account: ACCOUNT_ID, mode, kind, key, payload: payloadOf(kind, key), group, dueAt, ...onlyLater(kind) },
});
const onlyLater = (kind: string) => kind === 'resumeIssuing' && { onlyLater: true };
const payloadOf = (kind: string, key: string): object => {
  if (kind === 'deliver') return { deliveryId: key };
  if (kind === 'remindOfDeadline') return { caseId: key };
  if (kind === 'refund') return { paymentId: PAYMENT_ID, refundId: key };
  const [paymentId, more] = key.split(' ');
  if (more === undefined) return { paymentId };
  return more === 'all' ? { paymentId, ofAll: true } : { paymentId, method: more };
};
const clear = (kind: string, key: string = PAYMENT_ID) => ({ kind: 'clearTimer', timer: { kind, key } });
const job = (queue: string, payload: object, target?: string) => ({
  kind: 'job',
  job: { queue, payload, ...(target !== undefined && { target }) },
});

const attemptFailed = (nextAttemptAt: string | null) => ({
  type: 'WebhookDeliveryAttemptFailed',
  data: { number: 1, target: ENDPOINT, at: CREATED_AT, nextAttemptAt },
});
const registered = { type: 'WebhookEndpointRegistered', data: { endpointId: ENDPOINT, events: ['*'] } };
const deleted = { type: 'WebhookEndpointDeleted', data: { at: CREATED_AT } };
const endpointChanged = (change: object) => {
  const data = { url: null, events: null, status: null, ...change };
  return logged('webhookEndpoint', { type: 'WebhookEndpointChanged', data });
};
const secretRotated = { type: 'WebhookEndpointSecretRotated', data: { secretVersion: 2, at: LATER } };
const sandboxChanged = (autoConfirmRefunds: boolean) => ({
  type: 'AccountSandboxSettingsChanged',
  data: { sandbox: { autoConfirmRefunds }, at: CREATED_AT },
});

/** Everything that is logged, once of each kind, with a name. */
const LOG: { readonly [name: string]: LoggedEvent } = {
  'charge created': logged('payment', created()),
  'payment created': logged('payment', created({ api: 'payments' })),
  'payment of two methods created': logged('payment', created({ api: 'payments', methods: ['PIX', 'CREDIT_CARD'] })),
  'card issued': logged('payment', otherIssued(card())),
  'card not to be had': logged('payment', refusedInstrument('CREDIT_CARD')),
  'cancel requested': logged('payment', cancelRequested()),
  'charge cancelled': logged('payment', cancelled()),
  'resend requested': logged('payment', resendRequested(2, 1)),
  'resend that nobody wants': logged('payment', resendRequested(2, 1, false)),
  'card in flight': logged('payment', processing()),
  'card declined': logged('payment', refused('CREDIT_CARD', false)),
  'card declined for good': logged('payment', refused('CREDIT_CARD', true)),
  'held let pass': logged('payment', heldReleased()),
  'held sent back': logged('payment', heldRejected('operator')),
  'held cancelled': logged('payment', heldRejected('cancelled')),
  'refund reserved': logged('payment', refundReserved()),
  'refund completed': logged('payment', refundCompleted()),
  'refund released': logged('payment', refundReleased()),
  'dispute opened': logged('payment', disputeOpened()),
  'refund opened': logged('refund', { type: 'RefundRequested', data: { refundId: REFUND_ID, at: REFUNDED_AT } }),
  'refund submitted': logged('refund', { type: 'RefundSubmitted', data: { at: REFUNDED_AT } }),
  'refund unknown': logged('refund', { type: 'RefundOutcomeUnknown', data: { at: REFUNDED_AT } }),
  'refund paid': logged('refund', { type: 'RefundCompleted', data: { endToEndId: 'E', at: REFUNDED_AT } }),
  'refund failed': logged('refund', { type: 'RefundFailed', data: { reason: 'x', at: REFUNDED_AT } }),
  'pix issued': logged('payment', issued()),
  'charge failed': logged('payment', failed()),
  'charge expired': logged('payment', expired()),
  'settled at once': logged('payment', settled()),
  'settled and held back': logged('payment', settled({ availableAt: TOMORROW })),
  'payment held': logged('payment', held()),
  'wrong amount': logged('payment', sentBack('wrong_amount')),
  'second payment': logged('payment', sentBack('second_payment')),
  'charge ended': logged('payment', sentBack('charge_ended')),
  'payer differs': logged('payment', sentBack('payer_mismatch')),
  'payment returned': logged('payment', returned()),
  'return refused': logged('payment', returnRefused()),
  'return asked for again': logged('payment', returnRetried('return-2')),
  'funds released': logged('payment', released()),
  'dispute updated': logged('payment', { type: 'TransactionDisputeUpdated', data: { at: LATER } }),
  'dispute resolved': logged('payment', { type: 'TransactionDisputeResolved', data: { at: LATER } }),
  'case opened': logged('medCase', {
    type: 'MedCaseOpened',
    data: { responseDeadline: DEADLINE, openedAt: LATER, at: LATER },
  }),
  'case without a deadline opened': logged('medCase', {
    type: 'MedCaseOpened',
    data: { responseDeadline: null, openedAt: LATER, at: LATER },
  }),
  ...Object.fromEntries(
    [
      'EvidenceRequested',
      'DeadlineNeared',
      'EvidenceGranted',
      'EvidenceConfirmed',
      'EvidenceRemoved',
      'Appealed',
      'Accepted',
      'ReviewRequested',
      'ReviewApproved',
      'ReviewRefused',
      'Rejected',
      'Closed',
    ].map((name) => [`case ${name}`, logged('medCase', { type: `MedCase${name}`, data: { at: LATER } })]),
  ),
  'attempt failed': logged('webhookDelivery', attemptFailed(LATER)),
  'last attempt failed': logged('webhookDelivery', attemptFailed(null)),
  delivered: logged('webhookDelivery', { type: 'WebhookDeliverySucceeded', data: { number: 1, at: LATER } }),
  'dead-lettered': logged('webhookDelivery', { type: 'WebhookDeliveryDeadLettered', data: { at: LATER } }),
  'delivery cancelled': logged('webhookDelivery', {
    type: 'WebhookDeliveryCancelled',
    data: { reason: 'x', at: LATER },
  }),
  'retry asked for': logged('webhookDelivery', {
    type: 'WebhookDeliveryRetryRequested',
    data: { target: ENDPOINT, isProbe: true, at: LATER, delivery: null },
  }),
  'endpoint registered': logged('webhookEndpoint', registered),
  'endpoint deleted': logged('webhookEndpoint', deleted),
  'endpoint sent elsewhere': endpointChanged({ url: 'https://b.example' }),
  'endpoint told of other events': endpointChanged({ events: ['*'] }),
  'endpoint made inactive': endpointChanged({ status: 'inactive' }),
  'endpoint made active': endpointChanged({ status: 'active' }),
  'endpoint’s secret rotated': logged('webhookEndpoint', secretRotated),
  'clock advanced': logged('account', { type: 'AccountTestClockAdvanced', data: { seconds: 90, to: LATER } }),
  'account opened': logged('account', { type: 'AccountOpened', data: { accountId: ACCOUNT_ID } }),
  'settings changed': logged('account', { type: 'AccountSettingsChanged', data: { at: CREATED_AT } }),
  'sandbox confirms refunds': logged('account', sandboxChanged(true)),
  'sandbox confirms no refunds': logged('account', sandboxChanged(false)),
  'account suspended': logged('account', { type: 'AccountSuspended', data: { at: CREATED_AT } }),
  'account reopened': logged('account', { type: 'AccountReopened', data: { at: CREATED_AT } }),
  'override secret rotated': logged('account', { type: 'AccountOverrideSecretRotated', data: { at: CREATED_AT } }),
};

const CASE = { caseId: CASE_ID };
const mailed = [job('mailCase', { ...CASE, revision: REVISION })];
const told = [job('tellPayment', CASE)];
const answered = [clear('remindOfDeadline', CASE_ID)];
const REFUND = { paymentId: PAYMENT_ID, refundId: REFUND_ID };
const back = job('returnPayment', { paymentId: PAYMENT_ID, providerPaymentId: END_TO_END_ID });
const afresh = [
  { kind: 'forgetFailures', target: ENDPOINT },
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
    refundExecution,
    {
      'refund reserved': [job('refund', REFUND)],
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
        { kind: 'drainClock', account: ACCOUNT_ID, offsetSeconds: 90, until: LATER },
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
      job('fanOut', { paymentId: PAYMENT_ID, revision: REVISION, endpointIds });
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
      'dispute opened',
      'dispute updated',
      'dispute resolved',
    ];
    for (const [name, event] of Object.entries(LOG)) {
      const expected = TOLD.includes(name) ? [fanOutTo('a', 'b')] : [];
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
