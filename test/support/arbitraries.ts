// Arbitrary events of every type with arbitrary fields, for laws that must hold for any history.

import fc from 'fast-check';
import type { AccountSettings } from '../../domain/account/account.ts';
import type { Category, EventOf } from '../../domain/aggregates.ts';
import type { Customer } from '../../domain/charge/charge.ts';
import type { AcquirerInstrument } from '../../domain/charge/instruments.ts';
import { PAYMENT_METHODS } from '../../domain/charge/methods.ts';
import { CASE_STATUSES, CASE_TYPES, DISPUTE_METHODS, MONEY_OUTCOMES } from '../../domain/dispute/medCase.ts';
import { CASE_CHANGES } from '../../domain/dispute/snapshot.ts';
import type {
  AccountId,
  ConnectionId,
  EndpointId,
  KeyId,
  MedCaseId,
  PasswordId,
  PaymentId,
  RefundId,
  SecondFactorId,
  UserId,
} from '../../domain/kernel/ids.ts';
import type { Json } from '../../domain/kernel/json.ts';
import { toMinor } from '../../domain/kernel/money.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import type { PayoutId } from '../../domain/payout/payout.ts';
import { REFUND } from '../../domain/refund/refund.ts';
import type { Fee, FeePair } from '../../domain/transaction/fees.ts';
import type { IncomingPayment } from '../../domain/transaction/incomingPayment.ts';
import { RETURN_NATURES } from '../../domain/transaction/returnedOutside.ts';
import { ACCOUNT_ROLES, ROLES } from '../../domain/user/user.ts';
import { anyAmount, anyText, anyTime, count, mode, optional, orNull, rawId, share } from './arbitraryValues.ts';
import { CASE_DATA } from './caseArbitraries.ts';
import type { AnyEvent } from './serde.ts';

export { anyAmount, anyText, anyTime };

/** JSON as in a request body, with arbitrary keys. */
const metadata = fc
  .dictionary(anyText, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })
  .map((value) => JSON.parse(JSON.stringify(value)) as { [key: string]: Json });

const method = fc.constantFrom(...PAYMENT_METHODS);
const customer: fc.Arbitrary<Customer> = fc.record({
  name: optional,
  document: optional,
  email: optional,
  phone: optional,
});
/** A few end-to-end ids, so that histories repeat them. */
const providerPaymentId = fc.constantFrom('E1', 'E2', 'E3');
const incoming: fc.Arbitrary<IncomingPayment> = fc.record({
  method,
  providerPaymentId,
  amount: anyAmount,
  payer: fc.record({ name: optional, document: optional }),
  paidAt: anyTime,
});
const fee: fc.Arbitrary<Fee> = fc.record({ percentBps: fc.integer({ min: 0, max: 10_000 }), fixed: share });
const pair: fc.Arbitrary<FeePair> = fc.record({ provider: fee, platform: fee });
const perMethod = <T>(each: fc.Arbitrary<T>) =>
  fc.record({ PIX: each, CREDIT_CARD: each, MBWAY: each, MULTIBANCO: each, BOLETO: each, CRYPTO: each });
const apiKey = fc.record({
  keyId: rawId<KeyId>(),
  accountId: rawId<AccountId>(),
  mode,
  fingerprint: anyText,
  prefix: anyText,
  label: optional,
  issuedAt: anyTime,
});
const settings: fc.Arbitrary<AccountSettings> = fc.record({
  fees: perMethod(pair),
  holdDays: perMethod(count),
  chargeWindowSeconds: count,
  merchantName: anyText,
  taxId: orNull(anyText),
  receiverName: anyText,
  receiverCity: anyText,
  logo: orNull(anyText),
  color: orNull(anyText),
  velocity: fc.record({ customerPerHour: count, accountPerHour: count }),
  refundVelocity: fc.record({ countPerHour: orNull(count), sumPerHour: orNull(share) }),
  payoutCount: orNull(count),
  payoutSum: orNull(share),
  payoutApprovalAbove: orNull(share),
  rateLimitPerMinute: orNull(count),
  cashoutDestinations: orNull(fc.array(anyText, { maxLength: 3 })),
  disputeNotifications: fc.boolean(),
});
/** A few case ids, so that the events of a history concern the same case. */
const caseId = fc.constantFrom('1dspt000000000000000000000' as MedCaseId, '1dspt000000000000000000001' as MedCaseId);
const bound = { provider: anyText, reference: anyText, expiresAt: anyTime };
const instrument: fc.Arbitrary<AcquirerInstrument> = fc.oneof(
  fc.record({ method: fc.constant('CREDIT_CARD' as const), ...bound, redirectUrl: anyText }),
  fc.record({ method: fc.constant('MBWAY' as const), ...bound, phone: anyText }),
  fc.record({ method: fc.constant('MULTIBANCO' as const), ...bound, entity: anyText, mbReference: anyText }),
  fc.record({ method: fc.constant('BOLETO' as const), ...bound, barcode: anyText, line: anyText, pdfUrl: anyText }),
  fc.record({
    method: fc.constant('CRYPTO' as const),
    ...bound,
    address: anyText,
    amount: anyText,
    network: anyText,
    currency: anyText,
  }),
);
/** A few refund ids, so that histories repeat them. */
const refundId = fc.constantFrom('r1' as RefundId, 'r2' as RefundId);
const refundFee = { fee: share, feePaidBy: fc.constantFrom('merchant' as const, 'platform' as const) };
const strategy = fc.constantFrom('devolution' as const, 'cashout' as const, 'reversal' as const);
/** The data in the first event of a delivery's stream. */
const delivery = orNull(
  fc.record({
    stream: fc.oneof(rawId<PaymentId>().map(PAYMENT.stream), rawId<RefundId>().map(REFUND.stream)),
    revision: count,
    paymentId: orNull(rawId<PaymentId>()),
    eventType: anyText,
    endpointId: orNull(rawId<EndpointId>()),
    resend: count,
    scheduledAt: anyTime,
    form: count,
  }),
);

const moved = { amount: anyAmount, currency: anyText, at: anyTime };
const payoutMoved = { amount: anyAmount, fee: share, currency: fc.constant('BRL' as const), at: anyTime };

const connectionSettings = {
  name: anyText,
  baseUrl: anyText,
  tokenUrl: anyText,
  clientId: anyText,
  pixKey: anyText,
  certificate: orNull(anyText),
  ca: orNull(anyText),
  accountId: orNull(rawId<AccountId>()),
  methods: fc.array(method, { minLength: 1, maxLength: 2 }),
  order: count,
  requireClientCertificate: fc.boolean(),
  allowPrivate: fc.boolean(),
};

const entered = {
  outcome: fc.constantFrom('done' as const, 'refused' as const),
  by: anyText,
  reason: anyText,
  at: anyTime,
};
const erasure = fc.record({ by: anyText, reason: anyText, despiteRetention: fc.boolean(), at: anyTime });

type DataOf = { readonly [T in AnyEvent['type']]: fc.Arbitrary<Extract<AnyEvent, { type: T }>['data']> };
/** One entry per event type. The compiler requires an entry for every new type. */
export const ANY_DATA: DataOf = {
  ChargeCreated: fc.record({
    paymentId: rawId<PaymentId>(),
    accountId: rawId<AccountId>(),
    mode,
    connectionId: fc.option(rawId<ConnectionId>()),
    amount: anyAmount,
    currency: anyText,
    methods: fc.array(method, { minLength: 1, maxLength: 3 }),
    customer,
    customerId: optional,
    metadata,
    expectedPayerTaxId: optional,
    expiresInSeconds: count,
    txid: anyText,
    baseUrl: anyText,
    api: fc.constantFrom('charges' as const, 'payments' as const),
    webhookUrl: optional,
    createdAt: anyTime,
    fingerprint: fc.record({ version: count, hash: anyText }),
  }),
  ChargePixIssued: fc.record({ provider: anyText, txid: anyText, brCode: anyText, expiresAt: anyTime, at: anyTime }),
  ChargeInstrumentIssued: fc.record({ instrument, at: anyTime }),
  ChargeInstrumentRefused: fc.record({ method, reason: anyText, providerErrorCode: anyText, at: anyTime }),
  ChargeExpired: fc.record({ at: anyTime }),
  ChargeFailed: fc.record({ reason: anyText, providerErrorCode: anyText, at: anyTime }),
  ChargeCancelRequested: fc.record({ at: anyTime }),
  ChargeRerouted: fc.record({
    connectionId: rawId<ConnectionId>(),
    reason: anyText,
    providerErrorCode: anyText,
    at: anyTime,
  }),
  ChargeCancelled: fc.record({ by: fc.constantFrom('merchant', 'provider'), at: anyTime }),
  ChargeWebhookResendRequested: fc.record({ ofRevision: count, number: count, isWanted: fc.boolean(), at: anyTime }),
  TransactionProcessing: fc.record({ method, at: anyTime }),
  TransactionRefused: fc.record({
    method,
    reason: anyText,
    providerErrorCode: anyText,
    isFinal: fc.boolean(),
    at: anyTime,
  }),
  TransactionSettled: fc
    .record({
      incoming,
      method,
      currency: fc.constantFrom('BRL', 'EUR'),
      availableAt: orNull(anyTime),
      at: anyTime,
      a: fc.nat(1_000),
      b: fc.nat(1_000),
    })
    .map(({ a, b, ...rest }) => {
      const providerFee = Math.min(a, rest.incoming.amount);
      const platformFee = Math.min(b, rest.incoming.amount - providerFee);
      const netAmount = rest.incoming.amount - providerFee - platformFee;
      return {
        ...rest,
        providerFee: toMinor(providerFee),
        platformFee: toMinor(platformFee),
        netAmount: toMinor(netAmount),
      };
    }),
  TransactionHeld: fc.record({ incoming, currency: anyText, at: anyTime }),
  TransactionPaymentRejected: fc.record({
    incoming,
    currency: anyText,
    reason: fc.constantFrom(
      'wrong_amount' as const,
      'second_payment' as const,
      'charge_ended' as const,
      'payer_mismatch' as const,
    ),
    returnId: anyText,
    at: anyTime,
  }),
  TransactionPaymentReturned: fc.record({ providerPaymentId, ...moved, returnId: optional }),
  TransactionReturnedOutside: fc.record({
    providerPaymentId,
    id: anyText,
    returnId: optional,
    nature: fc.constantFrom(...RETURN_NATURES),
    owner: fc.constantFrom('merchant' as const, 'payer' as const),
    fromHold: anyAmount,
    ...moved,
  }),
  TransactionReturnRefused: fc.record({ providerPaymentId, ...moved, reason: anyText }),
  TransactionReturnOutcomeUnknown: fc.record({ providerPaymentId, returnId: anyText, at: anyTime }),
  TransactionReturnOutcomeEntered: fc.record({ providerPaymentId, ...entered }),
  TransactionReturnRetried: fc.record({ providerPaymentId, returnId: anyText, by: anyText, at: anyTime }),
  TransactionHeldPayoutRequested: fc.record({
    providerPaymentId,
    payoutId: refundId,
    ...moved,
    destination: anyText,
    fee: anyAmount,
    reason: anyText,
    by: anyText,
  }),
  TransactionHeldPayoutPaid: fc.record({
    providerPaymentId,
    payoutId: refundId,
    ...moved,
    fee: anyAmount,
    endToEndId: optional,
  }),
  TransactionHeldPayoutFailed: fc.record({ providerPaymentId, payoutId: refundId, reason: anyText, at: anyTime }),
  TransactionHeldWrittenOff: fc.record({ providerPaymentId, ...moved, reason: anyText, by: anyText }),
  TransactionReturnConfirmedLate: fc.record({
    providerPaymentId,
    id: anyText,
    ...moved,
    fee: anyAmount,
    returnId: optional,
  }),
  TransactionRefundConfirmedLate: fc.record({ refundId, ...moved, fee: anyAmount, endToEndId: optional }),
  TransactionLateConfirmationWrittenOff: fc.record({ id: anyText, ...moved, reason: anyText, by: anyText }),
  TransactionHeldReleased: fc.record({ providerPaymentId, ...moved, by: anyText }),
  TransactionHeldRejected: fc.record({
    providerPaymentId,
    ...moved,
    returnId: anyText,
    reason: fc.constantFrom('operator' as const, 'cancelled' as const),
    by: anyText,
  }),
  TransactionFundsReleased: fc.record(moved),
  TransactionRefundReserved: fc.record({
    refundId,
    ...moved,
    reason: optional,
    strategy,
    destination: optional,
    namedByMerchant: fc.boolean(),
    ...refundFee,
    fingerprint: fc.record({ version: count, hash: anyText }),
  }),
  TransactionRefundCompleted: fc.record({ refundId, ...moved, ...refundFee, endToEndId: optional }),
  TransactionRefundReleased: fc.record({ refundId, ...moved, ...refundFee, reason: anyText }),
  TransactionDisputeOpened: fc.record({
    caseId,
    kind: fc.constantFrom('CHARGEBACK' as const, 'DISPUTE' as const),
    ...moved,
    amountMismatch: fc.boolean(),
    reportedAmount: anyAmount,
    method: orNull(fc.constantFrom(...DISPUTE_METHODS)),
    reason: optional,
    payer: fc.record({ name: optional, document: optional }),
    openedAt: anyTime,
  }),
  TransactionDisputeUpdated: fc.record({
    revision: count,
    change: fc.constantFrom(...CASE_CHANGES),
    medCase: fc.record({
      caseId,
      type: fc.constantFrom(...CASE_TYPES),
      status: fc.constantFrom(...CASE_STATUSES),
      amount: anyAmount,
      currency: anyText,
      reason: optional,
      responseDeadline: orNull(anyTime),
      evidenceRequestedAt: orNull(anyTime),
      appealReason: optional,
      appealedAt: orNull(anyTime),
      evidenceCount: count,
      moneyOutcome: orNull(fc.constantFrom(...MONEY_OUTCOMES)),
      openedAt: anyTime,
      closedAt: orNull(anyTime),
      createdAt: anyTime,
      updatedAt: anyTime,
    }),
    ending: orNull(fc.constantFrom('agreed' as const, 'disagreed' as const, 'withdrawn' as const)),
    ruledAt: orNull(anyTime),
    announced: fc.boolean(),
    at: anyTime,
  }),
  TransactionDisputeSettled: fc.record({
    caseId,
    ...moved,
    verdict: fc.constantFrom('held' as const, 'lost' as const, 'nothing' as const),
    reason: anyText,
    by: anyText,
    announced: fc.boolean(),
  }),
  TransactionDisputeReturned: fc.record({ caseId, ...moved }),
  TransactionDisputeReturnCounted: fc.record({ caseId, ...moved, posted: anyAmount }),
  TransactionDisputeResolved: fc.record({
    caseId,
    moneyOutcome: fc.constantFrom(...MONEY_OUTCOMES),
    ...moved,
    reportedAmount: anyAmount,
    announced: fc.boolean(),
  }),
  ...CASE_DATA,
  PayoutRequested: fc.record({
    payoutId: rawId<PayoutId>(),
    accountId: rawId<AccountId>(),
    mode,
    connectionId: fc.option(rawId<ConnectionId>()),
    amount: anyAmount,
    fee: share,
    currency: fc.constant('BRL' as const),
    destination: anyText,
    description: optional,
    metadata,
    awaitsApproval: fc.boolean(),
    requestedBy: anyText,
    keyIssuer: orNull(rawId<UserId>()),
    fingerprint: fc.record({ version: count, hash: anyText }),
    at: anyTime,
  }),
  PayoutAbandoned: fc.record({ at: anyTime }),
  PayoutApproved: fc.record({ by: anyText, at: anyTime }),
  PayoutRejected: fc.record({ ...payoutMoved, by: anyText, reason: optional }),
  PayoutCancelled: fc.record(payoutMoved),
  PayoutSubmitted: fc.record({ at: anyTime }),
  PayoutOutcomeUnknown: fc.record({ at: anyTime }),
  PayoutOutcomeEntered: fc.record(entered),
  PayoutPaid: fc.record({ ...payoutMoved, endToEndId: optional }),
  PayoutFailed: fc.record({ ...payoutMoved, reason: anyText }),
  PayoutConfirmedLate: fc.record({ ...payoutMoved, endToEndId: optional }),
  PayoutPersonalDataErased: erasure,
  PaymentPersonalDataErased: erasure,
  RefundRequested: fc.record({
    refundId: rawId<RefundId>(),
    paymentId: rawId<PaymentId>(),
    accountId: rawId<AccountId>(),
    mode,
    amount: anyAmount,
    currency: anyText,
    method,
    strategy,
    destination: optional,
    providerPaymentId: anyText,
    at: anyTime,
  }),
  RefundSubmitted: fc.record({ at: anyTime }),
  RefundOutcomeUnknown: fc.record({ at: anyTime }),
  RefundCompleted: fc.record({ endToEndId: optional, at: anyTime }),
  RefundOutcomeEntered: fc.record(entered),
  RefundConfirmedLate: fc.record({ endToEndId: optional, at: anyTime }),
  RefundFailed: fc.record({ reason: anyText, at: anyTime }),
  RefundPersonalDataErased: fc.record({ at: anyTime }),
  WebhookDeliveryAttemptFailed: fc.record({
    number: count,
    target: anyText,
    at: anyTime,
    statusCode: orNull(count),
    error: anyText,
    responseBody: optional,
    durationMs: count,
    nextAttemptAt: orNull(anyTime),
    delivery,
  }),
  WebhookDeliverySucceeded: fc.record({ number: count, at: anyTime, statusCode: count, durationMs: count, delivery }),
  WebhookDeliveryDeadLettered: fc.record({ at: anyTime }),
  WebhookDeliveryPersonalDataErased: fc.record({ at: anyTime }),
  WebhookDeliveryCancelled: fc.record({ reason: anyText, at: anyTime, delivery }),
  WebhookDeliveryRetryRequested: fc.record({ target: anyText, isProbe: fc.boolean(), at: anyTime, delivery }),
  WebhookEndpointRegistered: fc.record({
    endpointId: rawId<EndpointId>(),
    accountId: rawId<AccountId>(),
    mode,
    url: anyText,
    events: fc.array(anyText, { maxLength: 3 }),
    secretVersion: count,
    at: anyTime,
  }),
  WebhookEndpointChanged: fc.record({
    url: orNull(anyText),
    events: orNull(fc.array(anyText, { maxLength: 3 })),
    status: orNull(fc.constantFrom('active' as const, 'inactive' as const)),
    at: anyTime,
  }),
  WebhookEndpointSecretRotated: fc.record({ secretVersion: count, at: anyTime }),
  WebhookEndpointDeleted: fc.record({ at: anyTime }),
  ApiKeyIssued: apiKey,
  ApiKeyRotated: fc.record({ replaced: rawId<KeyId>(), key: apiKey }),
  ApiKeyRevoked: fc.record({ keyId: rawId<KeyId>(), at: anyTime }),
  AccountOpened: fc.record({
    accountId: rawId<AccountId>(),
    name: anyText,
    email: anyText,
    idSeed: anyText,
    settings,
    at: anyTime,
  }),
  AccountSettingsChanged: fc.record({ settings, at: anyTime }),
  AccountSandboxSettingsChanged: fc.record({
    sandbox: fc.record({
      autoConfirmRefunds: fc.boolean(),
      autoConfirmPayouts: fc.boolean(),
      payoutApproval: orNull(fc.record({ above: orNull(share) })),
      rateLimitPerMinute: orNull(count),
      disputeNotifications: fc.boolean(),
    }),
    at: anyTime,
  }),
  AccountOverrideSecretRotated: fc.record({ mode, version: count, at: anyTime }),
  AccountSuspended: fc.record({ at: anyTime }),
  AccountReopened: fc.record({ at: anyTime }),
  AccountTestClockAdvanced: fc.record({ seconds: count, from: anyTime, to: anyTime }),
  UserAdded: fc.record({
    userId: rawId<UserId>(),
    accountId: orNull(rawId<AccountId>()),
    email: anyText,
    name: anyText,
    role: fc.constantFrom(...ROLES),
    passwordId: orNull(rawId<PasswordId>()),
    at: anyTime,
  }),
  UserPasswordChanged: fc.record({ passwordId: rawId<PasswordId>(), at: anyTime }),
  UserDisabled: fc.record({ at: anyTime }),
  UserEnabled: fc.record({ at: anyTime }),
  UserRoleChanged: fc.record({ role: fc.constantFrom(...ACCOUNT_ROLES), at: anyTime }),
  UserSecondFactorEnrolled: fc.record({ secondFactorId: rawId<SecondFactorId>(), at: anyTime }),
  UserSecondFactorReset: fc.record({ at: anyTime }),
  ProviderConnectionAdded: fc.record({
    connectionId: rawId<ConnectionId>(),
    kind: fc.constant('pix' as const),
    preset: anyText,
    ...connectionSettings,
    clientSecretVersion: count,
    privateKeyVersion: count,
    callbackSecretVersion: count,
    at: anyTime,
  }),
  ProviderConnectionChanged: fc.record({ ...connectionSettings, privateKeyVersion: count, at: anyTime }),
  ProviderConnectionEnabled: fc.record({ at: anyTime }),
  ProviderConnectionDrained: fc.record({ at: anyTime }),
  ProviderConnectionDisabled: fc.record({ at: anyTime }),
  ProviderConnectionRemoved: fc.record({ at: anyTime }),
  ProviderConnectionRestored: fc.record({ at: anyTime }),
  ProviderConnectionClientSecretRotated: fc.record({ clientSecretVersion: count, at: anyTime }),
  ProviderConnectionCallbackSecretRotated: fc.record({
    callbackSecretVersion: count,
    previousUntil: anyTime,
    at: anyTime,
  }),
  LogConsumerEventSkipped: fc.record({
    consumer: anyText,
    stream: anyText,
    revision: count,
    eventId: anyText,
    eventType: anyText,
    reason: anyText,
    operator: anyText,
    isForced: fc.boolean(),
    at: anyTime,
  }),
};

/** Returns an arbitrary event of one of these types. */
export const anyEventOf = <C extends Category>(types: readonly string[]): fc.Arbitrary<EventOf[C]> =>
  fc.oneof(...types.map((type) => ANY_DATA[type as AnyEvent['type']].map((data) => ({ type, data }) as EventOf[C])));
