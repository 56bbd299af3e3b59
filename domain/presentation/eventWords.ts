// What each stored event says, in plain words, for people who read the story of a payment. One table for all event types: a new type does
// not compile until it has words. No sentence shows personal data.
import type { EventOf } from '../aggregates.ts';
import type { PaymentMethod } from '../charge/methods.ts';
import { formatAmount, type Language } from './amount.ts';

/** Languages of the sentences. */
export type WordsLanguage = Extract<Language, 'en'>;

type AnyEvent = EventOf[keyof EventOf];
/** Every stored event type. */
export type EventType = AnyEvent['type'];
type DataOf<Type extends EventType> = Extract<AnyEvent, { readonly type: Type }>['data'];

/** A sentence about an event, in every language. */
export type Words = { readonly [L in WordsLanguage]: string };
type EventWords = { readonly [Type in EventType]: (data: DataOf<Type>) => Words };

const en = (amount: number, currency: string): string => formatAmount(amount, currency, 'en');
/** `being_returned` becomes `being returned`. */
const plain = (code: string): string => code.replaceAll('_', ' ');

const METHODS: { readonly [M in PaymentMethod]: string } = {
  PIX: 'Pix',
  CREDIT_CARD: 'credit card',
  MBWAY: 'MB WAY',
  MULTIBANCO: 'Multibanco',
  BOLETO: 'boleto',
  CRYPTO: 'crypto',
};
const NATURES = {
  ordinary: 'in the bank’s own application',
  withdrawal: 'as a withdrawal of the payer',
  medOperational: 'after an operational error that the banks confirmed',
  medFraud: 'after a fraud that the banks confirmed',
  medAutomatic: 'automatically by the banks',
} as const;
const REJECTIONS = {
  wrong_amount: 'the amount is wrong',
  second_payment: 'the charge was already paid',
  charge_ended: 'the charge had ended',
  payer_mismatch: 'the payer is not the expected one',
} as const;
const STRATEGIES = {
  devolution: 'as a Pix return',
  cashout: 'as a new Pix',
  reversal: 'through the acquirer',
} as const;
const MONEY_OUTCOMES = {
  refunded_to_merchant: 'the money returns to the merchant',
  closed_without_refund: 'the merchant does not get the money back',
  lost: 'the payer gets the money',
} as const;
const RESULTS = {
  agreed: 'for the payer',
  disagreed: 'for the merchant',
  withdrawn: 'nothing: the payer withdrew',
} as const;
const VERDICTS = { held: 'the amount is held', lost: 'the amount is lost', nothing: 'nothing is held' } as const;
const BY = { merchant: 'at the merchant’s request', provider: 'by the provider' } as const;

const CHARGE = {
  ChargeCreated: ({ amount, currency, methods, api }) => ({
    en: `The merchant asked for ${en(amount, currency)}, payable by ${methods.map((method) => METHODS[method]).join(' or ')}, through /v1/${api}.`,
  }),
  ChargeRerouted: ({ providerErrorCode }) => ({
    en: `The provider created nothing (${providerErrorCode}), so another connection was chosen.`,
  }),
  ChargePixIssued: ({ txid, expiresAt }) => ({
    en: `The provider issued the Pix code ${txid}, valid until ${expiresAt}.`,
  }),
  ChargeInstrumentIssued: ({ instrument: { method } }) => ({
    en: `The acquirer issued the ${METHODS[method]} instrument.`,
  }),
  ChargeInstrumentRefused: ({ method, providerErrorCode }) => ({
    en: `The acquirer refused ${METHODS[method]} (${providerErrorCode}); the other methods remain.`,
  }),
  ChargeExpired: () => ({ en: 'The charge expired unpaid. The provider confirmed it.' }),
  ChargeFailed: ({ providerErrorCode }) => ({
    en: `The charge failed: the provider issued nothing (${providerErrorCode}).`,
  }),
  ChargeCancelRequested: () => ({ en: 'The merchant asked to cancel the charge.' }),
  ChargeCancelled: ({ by }) => ({ en: `The charge was cancelled ${BY[by]}.` }),
  ChargeWebhookResendRequested: ({ ofRevision, isWanted }) => ({
    en: `The merchant asked to resend the webhooks of event ${ofRevision}${isWanted ? '' : '; no endpoint subscribes to them'}.`,
  }),
} satisfies Partial<EventWords>;

const TRANSACTION = {
  TransactionProcessing: ({ method }) => ({ en: `The payer began to pay by ${METHODS[method]}.` }),
  TransactionRefused: ({ method, providerErrorCode, isFinal }) => ({
    en: `The ${METHODS[method]} payment was declined (${providerErrorCode})${isFinal ? '; no method remains' : ''}.`,
  }),
  TransactionSettled: ({ incoming, method, currency, netAmount, availableAt }) => ({
    en:
      `The payer paid ${en(incoming.amount, currency)} by ${METHODS[method]}. ` +
      `After fees, ${en(netAmount, currency)} belongs to the merchant${availableAt === null ? '' : `, available from ${availableAt}`}.`,
  }),
  TransactionHeld: ({ incoming, currency }) => ({
    en: `${en(incoming.amount, currency)} arrived without a payer’s document. It is held until an operator decides.`,
  }),
  TransactionHeldReleased: ({ amount, currency }) => ({ en: `An operator released the held ${en(amount, currency)}.` }),
  TransactionHeldRejected: ({ amount, currency, reason }) => ({
    en: `The held ${en(amount, currency)} is to be returned, because ${reason === 'operator' ? 'an operator decided so' : 'the charge was cancelled'}.`,
  }),
  TransactionPaymentRejected: ({ incoming, currency, reason }) => ({
    en: `${en(incoming.amount, currency)} arrived but is not credited: ${REJECTIONS[reason]}. It is owed to the payer.`,
  }),
  TransactionPaymentReturned: ({ amount, currency }) => ({
    en: `The provider returned ${en(amount, currency)} to the payer.`,
  }),
  TransactionReturnRefused: ({ amount, currency }) => ({
    en: `The provider refused to return ${en(amount, currency)}. An operator must decide.`,
  }),
  TransactionReturnRetried: () => ({ en: 'An operator requested the refused return again.' }),
  TransactionReturnedOutside: ({ amount, currency, nature }) => ({
    en: `${en(amount, currency)} was returned to the payer ${NATURES[nature]}, not through Quita.`,
  }),
  TransactionHeldPayoutRequested: ({ amount, currency }) => ({
    en: `An operator decided to pay ${en(amount, currency)} out to a Pix key, because the return was refused.`,
  }),
  TransactionHeldPayoutPaid: ({ amount, currency }) => ({
    en: `The Pix of ${en(amount, currency)} in place of the return arrived.`,
  }),
  TransactionHeldPayoutFailed: () => ({ en: 'The provider refused the Pix in place of the return.' }),
  TransactionHeldWrittenOff: ({ amount, currency }) => ({
    en: `An operator wrote off ${en(amount, currency)}, which becomes the platform’s.`,
  }),
  TransactionReturnConfirmedLate: ({ amount, currency }) => ({
    en: `The provider confirmed the return of ${en(amount, currency)} after it had refused it. The platform claims the amount back.`,
  }),
  TransactionRefundConfirmedLate: ({ amount, currency }) => ({
    en: `The provider confirmed the refund of ${en(amount, currency)} after it had failed. The platform claims the amount back.`,
  }),
  TransactionLateConfirmationWrittenOff: ({ amount, currency }) => ({
    en: `An operator wrote off the claim of ${en(amount, currency)}; the platform bears it.`,
  }),
  TransactionFundsReleased: ({ amount, currency }) => ({
    en: `${en(amount, currency)} became available to the merchant.`,
  }),
  TransactionRefundReserved: ({ amount, currency, strategy }) => ({
    en: `The merchant asked to refund ${en(amount, currency)} ${STRATEGIES[strategy]}. The amount left the wallet.`,
  }),
  TransactionRefundCompleted: ({ amount, currency }) => ({
    en: `The payer got the refund of ${en(amount, currency)}.`,
  }),
  TransactionRefundReleased: ({ amount, currency }) => ({
    en: `The refund of ${en(amount, currency)} failed. The amount is back in the wallet.`,
  }),
  TransactionDisputeOpened: ({ kind, amount, currency, amountMismatch }) => ({
    en: `The payer opened a ${kind === 'CHARGEBACK' ? 'chargeback' : 'dispute'}. ${
      amountMismatch ? 'The reported amount differs, so nothing is held yet.' : `${en(amount, currency)} is held.`
    }`,
  }),
  TransactionDisputeUpdated: ({ change }) => ({ en: `The dispute case changed: ${plain(change)}.` }),
  TransactionDisputeSettled: ({ verdict, amount, currency }) => ({
    en: `An operator settled the differing amount of the dispute: ${VERDICTS[verdict]}${verdict === 'nothing' ? '' : ` (${en(amount, currency)})`}.`,
  }),
  TransactionDisputeReturned: ({ amount, currency }) => ({
    en: `The bank paid ${en(amount, currency)} of the dispute to the payer.`,
  }),
  TransactionDisputeResolved: ({ moneyOutcome }) => ({ en: `The dispute ended: ${MONEY_OUTCOMES[moneyOutcome]}.` }),
} satisfies Partial<EventWords>;

const REFUND = {
  RefundRequested: ({ amount, currency, strategy }) => ({
    en: `Quita prepared the refund of ${en(amount, currency)} ${STRATEGIES[strategy]}.`,
  }),
  RefundSubmitted: () => ({ en: 'The provider accepted the refund and is processing it.' }),
  RefundOutcomeUnknown: () => ({ en: 'The provider did not report the outcome of the refund. Quita keeps asking.' }),
  RefundCompleted: () => ({ en: 'The provider confirmed the refund.' }),
  RefundConfirmedLate: () => ({ en: 'The provider confirmed the refund after it had failed.' }),
  RefundFailed: () => ({ en: 'The provider refused the refund.' }),
} satisfies Partial<EventWords>;

const PAYOUT = {
  PayoutRequested: ({ amount, fee, currency, awaitsApproval }) => ({
    en: `A payout of ${en(amount, currency)} was requested, with a fee of ${en(fee, currency)}${awaitsApproval ? '. It awaits approval' : ''}.`,
  }),
  PayoutAbandoned: () => ({ en: 'The request of the payout was interrupted. The reserved money is free again.' }),
  PayoutApproved: () => ({ en: 'The payout was approved.' }),
  PayoutRejected: ({ amount, currency }) => ({ en: `The payout of ${en(amount, currency)} was rejected.` }),
  PayoutCancelled: ({ amount, currency }) => ({ en: `The payout of ${en(amount, currency)} was cancelled.` }),
  PayoutSubmitted: () => ({ en: 'The payout was sent to the bank.' }),
  PayoutOutcomeUnknown: () => ({ en: 'The bank did not report the outcome of the payout. Quita keeps asking.' }),
  PayoutPaid: ({ amount, currency }) => ({ en: `The bank paid out ${en(amount, currency)}.` }),
  PayoutFailed: ({ amount, currency }) => ({ en: `The bank refused the payout of ${en(amount, currency)}.` }),
  PayoutConfirmedLate: ({ amount, currency }) => ({
    en: `The bank paid out ${en(amount, currency)} after it had reported a failure.`,
  }),
} satisfies Partial<EventWords>;

const DISPUTE = {
  MedCaseOpened: ({ amount, currency, responseDeadline }) => ({
    en: `The bank reported a dispute of ${en(amount, currency)}${responseDeadline === null ? '' : `, to be answered by ${responseDeadline}`}.`,
  }),
  MedCaseReportNotTaken: ({ amount, currency, because, isFinal }) => ({
    en: `The bank reported a dispute of ${en(amount, currency)}, which the payment ${isFinal ? 'refused' : 'does not accept yet'} (${plain(because)}).`,
  }),
  MedCaseReportDismissed: () => ({ en: 'An operator dismissed the bank’s report.' }),
  MedCaseSettled: ({ verdict }) => ({ en: `An operator settled the differing amount: ${VERDICTS[verdict]}.` }),
  MedCaseLateReported: ({ result, contradicts }) => ({
    en: `The bank reported after the end: it ruled ${RESULTS[result]}${contradicts ? ', which contradicts the end' : ''}.`,
  }),
  MedCaseMoneyReturned: () => ({ en: 'The banks returned a part of the money to the payer.' }),
  MedCaseEvidenceRequested: () => ({ en: 'The platform asked the merchant for evidence.' }),
  MedCaseDeadlineNeared: () => ({ en: 'One day remained to answer; the merchant was reminded.' }),
  MedCaseEvidenceConfirmed: ({ uploadedBy, fileSize, sha256 }) => ({
    en: `The ${uploadedBy} uploaded evidence of ${fileSize} bytes (SHA-256 ${sha256}).`,
  }),
  MedCaseAppealed: () => ({ en: 'The merchant contested the dispute.' }),
  MedCaseAccepted: () => ({ en: 'The merchant accepted the dispute.' }),
  MedCaseReviewRequested: ({ result }) => ({
    en: `The bank ruled ${RESULTS[result]}. An operator must review the ruling.`,
  }),
  MedCaseReviewApproved: () => ({ en: 'An operator approved the ruling.' }),
  MedCaseReviewRefused: () => ({ en: 'An operator refused the ruling; the case goes on.' }),
  MedCaseRejected: () => ({ en: 'The case ended: the bank ruled for the payer.' }),
  MedCaseClosed: ({ because, moneyOutcome }) => ({
    en: `The case ended: ${because === 'withdrawn' ? 'the payer withdrew' : 'the bank ruled for the merchant'}; ${MONEY_OUTCOMES[moneyOutcome]}.`,
  }),
} satisfies Partial<EventWords>;

const WEBHOOKS = {
  WebhookDeliveryAttemptFailed: ({ number, statusCode, durationMs, nextAttemptAt }) => ({
    en:
      `Attempt ${number} failed: ${statusCode === null ? 'no response' : `status ${statusCode}`} after ${durationMs} ms` +
      `${nextAttemptAt === null ? '' : `; the next one is at ${nextAttemptAt}`}.`,
  }),
  WebhookDeliverySucceeded: ({ number, statusCode, durationMs }) => ({
    en: `Attempt ${number} succeeded: status ${statusCode} after ${durationMs} ms.`,
  }),
  WebhookDeliveryDeadLettered: () => ({ en: 'All attempts failed; the delivery was given up.' }),
  WebhookDeliveryCancelled: () => ({ en: 'The delivery was cancelled.' }),
  WebhookDeliveryRetryRequested: () => ({ en: 'Another attempt was requested.' }),
  WebhookEndpointRegistered: ({ events }) => ({ en: `A webhook endpoint was registered for ${events.join(', ')}.` }),
  WebhookEndpointChanged: ({ status }) => ({
    en: status === null ? 'The webhook endpoint was changed.' : `The webhook endpoint became ${status}.`,
  }),
  WebhookEndpointSecretRotated: ({ secretVersion }) => ({
    en: `The endpoint’s secret was rotated to version ${secretVersion}.`,
  }),
  WebhookEndpointDeleted: () => ({ en: 'The webhook endpoint was deleted.' }),
} satisfies Partial<EventWords>;

const ACCOUNT = {
  AccountOpened: () => ({ en: 'The account was opened.' }),
  AccountSettingsChanged: () => ({ en: 'The account’s settings were changed.' }),
  AccountSandboxSettingsChanged: () => ({ en: 'The sandbox’s settings were changed.' }),
  AccountOverrideSecretRotated: ({ mode, version }) => ({
    en: `The secret for payments’ own webhook URLs was rotated to version ${version} in ${mode} mode.`,
  }),
  AccountSuspended: () => ({ en: 'The account was suspended.' }),
  AccountReopened: () => ({ en: 'The account was reopened.' }),
  AccountTestClockAdvanced: ({ from, to }) => ({ en: `The test clock moved from ${from} to ${to}.` }),
  ApiKeyIssued: ({ keyId, mode }) => ({ en: `API key ${keyId} was issued for ${mode} mode.` }),
  ApiKeyRotated: ({ replaced, key }) => ({ en: `API key ${replaced} was replaced by ${key.keyId}.` }),
  ApiKeyRevoked: ({ keyId }) => ({ en: `API key ${keyId} was revoked.` }),
  UserAdded: ({ role }) => ({ en: `A user was added with the role ${role}.` }),
  UserPasswordChanged: () => ({ en: 'The user’s password was changed.' }),
  UserDisabled: () => ({ en: 'The user was disabled.' }),
  UserEnabled: () => ({ en: 'The user was enabled.' }),
  UserRoleChanged: ({ role }) => ({ en: `The user’s role became ${role}.` }),
  UserSecondFactorEnrolled: () => ({ en: 'The user enrolled a second factor.' }),
  UserSecondFactorReset: () => ({ en: 'The user’s second factor was removed.' }),
} satisfies Partial<EventWords>;

const PLATFORM = {
  LogConsumerEventSkipped: ({ consumer, stream, revision }) => ({
    en: `An operator had ${consumer} skip event ${stream}@${revision}.`,
  }),
  ProviderConnectionAdded: ({ preset }) => ({ en: `A provider connection (${preset}) was added.` }),
  ProviderConnectionChanged: () => ({ en: 'The provider connection was changed.' }),
  ProviderConnectionEnabled: () => ({ en: 'The provider connection takes new payments.' }),
  ProviderConnectionDrained: () => ({ en: 'The provider connection takes no new payments.' }),
  ProviderConnectionDisabled: () => ({ en: 'The provider connection was disabled.' }),
  ProviderConnectionRemoved: () => ({ en: 'The provider connection was removed.' }),
  ProviderConnectionClientSecretRotated: () => ({ en: 'The provider connection’s client secret was rotated.' }),
  ProviderConnectionCallbackSecretRotated: () => ({ en: 'The provider connection’s callback secret was rotated.' }),
} satisfies Partial<EventWords>;

const ERASURE = {
  PaymentPersonalDataErased: ({ by }) => ({ en: `The payment’s personal data was erased by ${by}.` }),
  RefundPersonalDataErased: () => ({ en: 'The refund’s personal data was erased.' }),
  PayoutPersonalDataErased: ({ by }) => ({ en: `The payout’s personal data was erased by ${by}.` }),
  MedCasePersonalDataErased: () => ({ en: 'The case’s personal data was erased.' }),
  WebhookDeliveryPersonalDataErased: () => ({ en: 'The delivery’s personal data was erased.' }),
} satisfies Partial<EventWords>;

const EVENT_WORDS: EventWords = {
  ...CHARGE,
  ...TRANSACTION,
  ...REFUND,
  ...PAYOUT,
  ...DISPUTE,
  ...WEBHOOKS,
  ...ACCOUNT,
  ...PLATFORM,
  ...ERASURE,
};

/** Every stored event type. */
export const EVENT_TYPES = Object.keys(EVENT_WORDS) as readonly EventType[];

/** Returns what the event says, in every language; null for a type that this version does not know. */
export const wordsOf = ({ type, data }: { readonly type: string; readonly data: unknown }): Words | null =>
  Object.hasOwn(EVENT_WORDS, type) ? (EVENT_WORDS[type as EventType] as (data: unknown) => Words)(data) : null;
