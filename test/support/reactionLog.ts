// A log with every kind of event, and the possible reactions of process managers to it.

import { expect } from 'chai';
import type { LoggedEvent } from '../../application/ports/loggedEvent.ts';
import type { EffectHandler, ProcessManager, Reaction } from '../../application/ports/processManager.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { Subscriptions } from '../../application/ports/subscriptions.ts';
import { AGGREGATES } from '../../domain/aggregates.ts';
import type { AnyAggregate } from '../../domain/kernel/aggregate.ts';
import {
  PAYOUT_ID,
  abandoned as payoutAbandoned,
  approved as payoutApproved,
  cancelled as payoutCancelled,
  failed as payoutFailed,
  late as payoutLate,
  paid as payoutPaid,
  rejected as payoutRejected,
  requested as payoutRequested,
  submitted as payoutSubmitted,
  unknown as payoutUnknown,
  WAITING,
} from '../domain/payout/samples.ts';
import { card, otherIssued } from '../world/instruments.ts';
import { deepFreeze } from './deepFreeze.ts';
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
} from './samples.ts';
import type { AnyEvent } from './serde.ts';

export const REVISION = 7;
export const ENDPOINT = '1endpoint00000000000000000';
const EVIDENCE = '3evidence00000000000000000';
export const DELIVERY = '2delivery00000000000000000';
/** The deadline of a case, and one day before it. */
export const [DEADLINE, DAY_BEFORE] = ['2026-11-24T15:00:00.000Z', '2026-11-23T15:00:00.000Z'];
export const [LATER, TOMORROW] = [at('15:00:00'), at('23:00:00')];

const SUBJECTS = {
  payment: PAYMENT_ID,
  refund: REFUND_ID,
  medCase: CASE_ID,
  webhookDelivery: DELIVERY,
  webhookEndpoint: ENDPOINT,
  account: ACCOUNT_ID,
  payout: PAYOUT_ID,
} as const;
type Category = keyof typeof SUBJECTS;
export const logged = (category: Category, event: unknown, mode = 'test'): LoggedEvent =>
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
/** Reactions of each process to the named events. */
export type Answers = { readonly [process: string]: { readonly [name: string]: readonly object[] } };

/** Returns the event without its personal data, in the form that the reactor may read. */
const closed = (logged: LoggedEvent): LoggedEvent => {
  const { type, data } = logged.event;
  const { serde, isSealed } = AGGREGATES.find(({ category }) => category === logged.category) as AnyAggregate;
  if (isSealed !== true) return logged;
  const rest = structuredClone(data) as Record<string, unknown>;
  for (const path of serde.table[type]?.personal ?? []) {
    const keys = path.split('.');
    const owner = keys
      .slice(0, -1)
      .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], rest);
    if (owner !== undefined) (owner as Record<string, unknown>)[keys.at(-1) as string] = 'erased';
  }
  return deepFreeze({ ...logged, event: { type, data: rest } }) as LoggedEvent;
};

/** Returns the reactions of the process. Expects the same for a repeat and for the event without personal data. */
export const reactions = (
  process: ProcessManager,
  event: LoggedEvent,
  context = NO_SUBSCRIPTIONS,
): readonly Reaction[] => {
  const first = process.react(event, context);
  for (const again of [event, closed(event)]) expect(process.react(again, context)).to.deep.equal(first);
  return first;
};

const NO_DATABASE: Sql = {
  query: async () => {
    throw new Error('no database');
  },
};
/** Performs the effects among the reactions. Each must be declared. */
export const haveEffectsDone = async <Parts>(
  declared: { readonly [name: string]: (parts: Parts) => EffectHandler },
  parts: Parts,
  reactions: readonly Reaction[],
): Promise<void> => {
  for (const reaction of reactions)
    if (reaction.kind === 'effect') await declared[reaction.effect]!(parts)([reaction.about], NO_DATABASE);
};

/** `key` is the first property of the payload. */
export const timer = (kind: string, key: string, dueAt: string, group: string | null = null, mode = 'test') => ({
  kind: 'timer',
  timer: { account: ACCOUNT_ID, mode, kind, key, payload: payloadOf(kind, key), group, dueAt, ...onlyLater(kind) },
});
export const onlyLater = (kind: string) => kind === 'resumeIssuing' && { onlyLater: true };
export const payloadOf = (kind: string, key: string): object => {
  if (kind === 'deliver') return { deliveryId: key };
  if (kind === 'remindOfDeadline') return { caseId: key };
  if (kind === 'payout') return { payoutId: key };
  if (kind === 'refund') return { paymentId: PAYMENT_ID, refundId: key };
  const [paymentId, more] = key.split(' ');
  if (more === undefined) return { paymentId };
  return more === 'all' ? { paymentId, ofAll: true } : { paymentId, method: more };
};
export const clear = (kind: string, key: string = PAYMENT_ID) => ({ kind: 'clearTimer', timer: { kind, key } });
export const job = (queue: string, payload: object, target?: string) => ({
  kind: 'job',
  job: { queue, payload, ...(target !== undefined && { target }) },
});

export const attemptFailed = (nextAttemptAt: string | null) => ({
  type: 'WebhookDeliveryAttemptFailed',
  data: { number: 1, target: ENDPOINT, at: CREATED_AT, nextAttemptAt },
});
export const registered = { type: 'WebhookEndpointRegistered', data: { endpointId: ENDPOINT, events: ['*'] } };
export const deleted = { type: 'WebhookEndpointDeleted', data: { at: CREATED_AT } };
const endpointChanged = (change: object) => {
  const data = { url: null, events: null, status: null, ...change };
  return logged('webhookEndpoint', { type: 'WebhookEndpointChanged', data });
};
const secretRotated = { type: 'WebhookEndpointSecretRotated', data: { secretVersion: 2, at: LATER } };
const sandboxChanged = (autoConfirmRefunds: boolean) => ({
  type: 'AccountSandboxSettingsChanged',
  data: { sandbox: { autoConfirmRefunds, autoConfirmPayouts: autoConfirmRefunds }, at: CREATED_AT },
});

const erased = (of: string) => ({ type: `${of}PersonalDataErased`, data: { at: LATER } });

/** Events of all kinds by name. */
export const LOG: { readonly [name: string]: LoggedEvent } = {
  'charge created': logged('payment', created()),
  'payment created': logged('payment', created({ api: 'payments' })),
  'payment of two methods created': logged('payment', created({ api: 'payments', methods: ['PIX', 'CREDIT_CARD'] })),
  'charge rerouted': logged('payment', {
    type: 'ChargeRerouted',
    data: { connectionId: '0c0nn000000000000000000001', reason: 'x', providerErrorCode: 'x', at: LATER },
  }),
  'card issued': logged('payment', otherIssued(card())),
  'card refused': logged('payment', refusedInstrument('CREDIT_CARD')),
  'cancel requested': logged('payment', cancelRequested()),
  'charge cancelled': logged('payment', cancelled()),
  'resend requested': logged('payment', resendRequested(2, 1)),
  'resend that no endpoint wants': logged('payment', resendRequested(2, 1, false)),
  'card payment in progress': logged('payment', processing()),
  'card declined': logged('payment', refused('CREDIT_CARD', false)),
  'last method declined': logged('payment', refused('CREDIT_CARD', true)),
  'held payment released': logged('payment', heldReleased()),
  'held payment rejected': logged('payment', heldRejected('operator')),
  'held payment rejected by a cancellation': logged('payment', heldRejected('cancelled')),
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
  'settled and available': logged('payment', settled()),
  'settled and pending': logged('payment', settled({ availableAt: TOMORROW })),
  'payment held': logged('payment', held()),
  'wrong amount': logged('payment', sentBack('wrong_amount')),
  'second payment': logged('payment', sentBack('second_payment')),
  'charge ended': logged('payment', sentBack('charge_ended')),
  'payer differs': logged('payment', sentBack('payer_mismatch')),
  'payment returned': logged('payment', returned()),
  'return refused': logged('payment', returnRefused()),
  'return requested again': logged('payment', returnRetried('return-2')),
  'return unanswered': logged('payment', { type: 'TransactionReturnOutcomeUnknown', data: { at: LATER } }),
  'return entered': logged('payment', { type: 'TransactionReturnOutcomeEntered', data: { at: LATER } }),
  'refund entered': logged('refund', { type: 'RefundOutcomeEntered', data: { at: LATER } }),
  'payout entered': logged('payout', { type: 'PayoutOutcomeEntered', data: { at: LATER } }),
  'funds released': logged('payment', released()),
  'payment erased': logged('payment', erased('Payment')),
  'payout erased': logged('payout', erased('Payout')),
  'refund erased': logged('refund', erased('Refund')),
  'case erased': logged('medCase', erased('MedCase')),
  'delivery erased': logged('webhookDelivery', erased('WebhookDelivery')),
  'returned outside': logged('payment', {
    type: 'TransactionReturnedOutside',
    data: { providerPaymentId: END_TO_END_ID, id: 'D1', returnId: 'D1', nature: 'ordinary', amount: 1, at: LATER },
  }),
  'dispute updated': logged('payment', { type: 'TransactionDisputeUpdated', data: { at: LATER } }),
  ...Object.fromEntries(
    [
      'HeldPayoutRequested',
      'HeldPayoutPaid',
      'HeldPayoutFailed',
      'HeldWrittenOff',
      'ReturnConfirmedLate',
      'RefundConfirmedLate',
      'LateConfirmationWrittenOff',
    ].map((name) => [
      name,
      logged('payment', {
        type: `Transaction${name}`,
        data: { payoutId: REFUND_ID, refundId: REFUND_ID, id: END_TO_END_ID, destination: 'x', at: LATER },
      }),
    ]),
  ),
  'refund confirmed late': logged('refund', { type: 'RefundConfirmedLate', data: { endToEndId: null, at: LATER } }),
  'dispute settled': logged('payment', { type: 'TransactionDisputeSettled', data: { at: LATER } }),
  'dispute returned': logged('payment', { type: 'TransactionDisputeReturned', data: { at: LATER } }),
  'dispute return counted': logged('payment', {
    type: 'TransactionDisputeReturnCounted',
    data: { amount: 1, posted: 0, at: LATER },
  }),
  'dispute resolved': logged('payment', { type: 'TransactionDisputeResolved', data: { at: LATER } }),
  'case returned by the bank': logged('medCase', {
    type: 'MedCaseMoneyReturned',
    data: { returnId: 'D1', amount: 1, at: LATER },
  }),
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
      'EvidenceConfirmed',
      'Appealed',
      'Accepted',
      'ReviewRequested',
      'ReviewApproved',
      'ReviewRefused',
      'Rejected',
      'Closed',
      'Settled',
      'LateReported',
      'ReportNotTaken',
      'ReportDismissed',
    ].map((name) => [
      `case ${name}`,
      logged('medCase', { type: `MedCase${name}`, data: { evidenceId: EVIDENCE, at: LATER } }),
    ]),
  ),
  'case settled as held': logged('medCase', {
    type: 'MedCaseSettled',
    data: { verdict: 'held', at: LATER },
  }),
  'attempt failed': logged('webhookDelivery', attemptFailed(LATER)),
  'last attempt failed': logged('webhookDelivery', attemptFailed(null)),
  delivered: logged('webhookDelivery', { type: 'WebhookDeliverySucceeded', data: { number: 1, at: LATER } }),
  'dead-lettered': logged('webhookDelivery', { type: 'WebhookDeliveryDeadLettered', data: { at: LATER } }),
  'delivery cancelled': logged('webhookDelivery', {
    type: 'WebhookDeliveryCancelled',
    data: { reason: 'x', at: LATER },
  }),
  'retry requested': logged('webhookDelivery', {
    type: 'WebhookDeliveryRetryRequested',
    data: { target: ENDPOINT, isProbe: true, at: LATER, delivery: null },
  }),
  'endpoint registered': logged('webhookEndpoint', registered),
  'endpoint deleted': logged('webhookEndpoint', deleted),
  'endpoint URL changed': endpointChanged({ url: 'https://b.example' }),
  'endpoint events changed': endpointChanged({ events: ['*'] }),
  'endpoint made inactive': endpointChanged({ status: 'inactive' }),
  'endpoint made active': endpointChanged({ status: 'active' }),
  'endpoint’s secret rotated': logged('webhookEndpoint', secretRotated),
  'payout requested': logged('payout', payoutRequested()),
  'payout that awaits approval': logged('payout', payoutRequested(WAITING)),
  'payout abandoned': logged('payout', payoutAbandoned),
  'payout approved': logged('payout', payoutApproved),
  'payout rejected': logged('payout', payoutRejected),
  'payout cancelled': logged('payout', payoutCancelled),
  'payout submitted': logged('payout', payoutSubmitted),
  'payout unknown': logged('payout', payoutUnknown),
  'payout paid': logged('payout', payoutPaid),
  'payout failed': logged('payout', payoutFailed),
  'payout confirmed late': logged('payout', payoutLate),
  'clock advanced': logged('account', { type: 'AccountTestClockAdvanced', data: { seconds: 90, to: LATER } }),
  'account opened': logged('account', { type: 'AccountOpened', data: { accountId: ACCOUNT_ID } }),
  'settings changed': logged('account', { type: 'AccountSettingsChanged', data: { at: CREATED_AT } }),
  'sandbox confirms refunds': logged('account', sandboxChanged(true)),
  'sandbox confirms no refunds': logged('account', sandboxChanged(false)),
  'account suspended': logged('account', { type: 'AccountSuspended', data: { at: CREATED_AT } }),
  'account reopened': logged('account', { type: 'AccountReopened', data: { at: CREATED_AT } }),
  'override secret rotated': logged('account', { type: 'AccountOverrideSecretRotated', data: { at: CREATED_AT } }),
};
