// Handles stored callbacks. Nothing in a callback is trusted: it only names payments to read from the institution again (rule V2).
import { type ConnectionId, PLATFORM_ACCOUNT, parseId, type RefundId, type Tenant } from '../../domain/kernel/ids.ts';
import { MINUTE_MS } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { exists } from '../../domain/payment/payment.ts';
import { PAYOUT } from '../../domain/payout/aggregate.ts';
import type { PayoutId } from '../../domain/payout/payout.ts';
import { REFUND } from '../../domain/refund/refund.ts';
import { idOf, jobKind, payloadOf, text } from '../core/capability.ts';
import { type CommandHandler, StreamUnreadable } from '../core/commandHandler.ts';
import type { TakeReturns } from '../disputes/takeReturns.ts';
import type { ConnectionVault } from '../ports/connectionWork.ts';
import type { PayloadOf } from '../ports/jobs.ts';
import { type ReceivedPayment, UnknownAtProvider } from '../ports/paymentProvider.ts';
import {
  type CallbackAlerts,
  type CallbackFinding,
  type CallbackOutcome,
  OPEN_OUTCOMES,
  type ProviderCallbacks,
  type StoredCallback,
} from '../ports/providerCallbacks.ts';
import type { CallbackHint, OpenConnection, ProviderConnections, ReadCallback } from '../ports/providerConnections.ts';
import type { ProviderNotifications } from '../ports/providerNotifications.ts';
import type { ConnectionPayment, ConnectionPayments } from '../ports/readModels/connectionPayments.ts';

export const callbackJob = jobKind({
  name: 'providerCallback',
  payload: payloadOf({ connectionId: idOf<ConnectionId>(), callbackId: text }),
  subjectOf: ({ callbackId }) => callbackId,
});

export interface CallbackHandling {
  readonly commands: CommandHandler;
  readonly providerCallbacks: ProviderCallbacks;
  readonly providerConnections: Pick<ProviderConnections, 'open' | 'statusOf'>;
  readonly connectionVault: Pick<ConnectionVault, 'stored'>;
  readonly connectionPayments: ConnectionPayments;
  readonly notifications: Pick<ProviderNotifications, 'store' | 'startJob'>;
  readonly callbackAlerts: CallbackAlerts;
}

/** How many hints are handled at once. */
const SLICE = 10;
/** An institution may announce a payment before it lists it. Until then the callback is retried. */
const LISTED_MS = 10 * MINUTE_MS;
/** Longest reference that a finding keeps; those of the standard have at most 35 characters. */
const REFERENCE_MAX = 64;

/**
 * Handles a callback. Idempotent, also if run twice at once. Throws UnknownAtProvider if the institution gives no answer; the next attempt
 * continues after the hints that are done. A callback of a disabled connection is left until the connection is enabled (V5).
 */
export const handleCallback =
  (needs: CallbackHandling, returnsOf: readonly TakeReturns[]) =>
  async ({ callbackId }: PayloadOf<typeof callbackJob>): Promise<void> => {
    const callback = await needs.providerCallbacks.unhandled(callbackId);
    if (callback === null) return;
    const connection = await needs.providerConnections.open(callback.connectionId);
    if (connection === null) return withoutConnection(needs, callback);
    const read = readBy(connection, callback.raw);
    if (typeof read === 'string') return conclude(needs, callback, read, []);
    const findings = await handleHints({ ...needs, connection, callback, returnsOf }, withoutRepeats(read));
    const outcome = OPEN_OUTCOMES.findLast((one) => findings.some((finding) => finding.outcome === one)) ?? 'handled';
    return conclude(needs, callback, outcome, findings);
  };

/** Returns `notUnderstood` if the adapter fails on the body, so that one body can't keep a job from ending. */
const readBy = (connection: OpenConnection, raw: string): ReadCallback => {
  try {
    return connection.readCallback(raw);
  } catch {
    return 'notUnderstood';
  }
};

const withoutRepeats = (hints: readonly CallbackHint[]): readonly CallbackHint[] => [
  ...new Map(hints.map((hint) => [JSON.stringify(hint), hint])).values(),
];

/**
 * Leaves the callback of a connection whose removal is not complete to the next attempt, so that the removal, which counts once more
 * before it forgets the secrets, sees it.
 */
const withoutConnection = async (needs: CallbackHandling, callback: StoredCallback): Promise<void> => {
  const { connectionId } = callback;
  const status = await needs.providerConnections.statusOf(connectionId);
  if (status === 'disabled') return;
  const isInUse = status === 'enabled' || status === 'draining';
  if (isInUse || (await needs.connectionVault.stored(connectionId)).length > 0)
    throw new UnknownAtProvider(`connection ${connectionId}`);
  await conclude(needs, callback, 'notConfirmed', [
    { outcome: 'notConfirmed', reference: connectionId, txid: null, because: 'connection_removed' },
  ]);
};

const conclude = async (
  { providerCallbacks, callbackAlerts }: CallbackHandling,
  callback: StoredCallback,
  outcome: CallbackOutcome,
  findings: readonly CallbackFinding[],
): Promise<void> => {
  if (OPEN_OUTCOMES.some((one) => one === outcome)) callbackAlerts.kept(callback, outcome, findings);
  await providerCallbacks.markHandled(callback.id, outcome, findings);
};

interface Handling extends CallbackHandling {
  readonly connection: OpenConnection;
  readonly callback: StoredCallback;
  readonly returnsOf: readonly TakeReturns[];
}

/**
 * Handles all hints, even if some fail. If all of a slice fail, the institution is away, and the rest is left to the next attempt. An
 * unreadable stream doesn't mean that.
 */
const handleHints = async (handling: Handling, hints: readonly CallbackHint[]): Promise<readonly CallbackFinding[]> => {
  const { providerCallbacks, callback } = handling;
  const findings = [...callback.findings];
  let failure: PromiseRejectedResult | null = null;
  for (let from = callback.done; from < hints.length; from += SLICE) {
    const slice = hints.slice(from, from + SLICE);
    const results = await Promise.allSettled(slice.map((hint) => handleHint(handling, hint)));
    const failures = results.filter((result) => result.status === 'rejected');
    failure ??= failures[0] ?? null;
    const isAway = failures.every(({ reason }) => !(reason instanceof StreamUnreadable));
    if (failures.length === slice.length && isAway) break;
    for (const result of results)
      if (result.status === 'fulfilled' && result.value !== null) findings.push(result.value);
    if (failure === null) await providerCallbacks.saveProgress(callback.id, from + slice.length, findings);
  }
  if (failure !== null) throw failure.reason;
  return findings;
};

const handleHint = (handling: Handling, hint: CallbackHint): Promise<CallbackFinding | null> =>
  hint.kind === 'received' ? handleReceived(handling, hint) : handleSent(handling, hint.id);

const found = (
  outcome: CallbackFinding['outcome'],
  reference: string,
  because: string,
  txid: string | null = null,
): CallbackFinding => ({
  outcome,
  reference: reference.slice(0, REFERENCE_MAX),
  txid: txid === null ? null : txid.slice(0, REFERENCE_MAX),
  because,
});

// --- Received payments: the charge is the one that the institution's own record names ---

/** Banks' ids are not always as strict as Quita's. */
const END_TO_END_ID = /^[A-Za-z0-9]{32}$/;

const handleReceived = async (
  handling: Handling,
  { endToEndId, txid: claimed }: Extract<CallbackHint, { kind: 'received' }>,
): Promise<CallbackFinding | null> => {
  const { connection, callback, connectionPayments, notifications, returnsOf } = handling;
  if (!END_TO_END_ID.test(endToEndId)) return found('notConfirmed', endToEndId, 'invalid_id', claimed);
  const answer = await connection.provider.findPayment(ownerOf(connection), endToEndId);
  if (answer.kind !== 'known') throw new UnknownAtProvider(`payment ${endToEndId}`);
  const received = answer.value;
  if (received === null) {
    if (callback.ageMs < LISTED_MS) throw new UnknownAtProvider(`payment ${endToEndId}, which is not listed yet`);
    return found('notConfirmed', endToEndId, 'not_found', claimed);
  }
  const { txid } = received;
  if (txid === null) return found('unmatched', endToEndId, 'no_txid');
  const payment = (await connectionPayments.byTxid([txid])).get(txid);
  const confirmed = payment === undefined ? null : await confirmedByOwn(handling, payment, received);
  if (payment === undefined || confirmed === null) return found('unmatched', endToEndId, 'unknown_txid', txid);
  const { tenant, paymentId } = payment;
  await notifications.store({ tenant, kind: 'payment', reference: endToEndId, paymentId });
  if (confirmed.returns.length > 0) for (const take of returnsOf) await take(payment, confirmed);
  return claimed === null || claimed === txid ? null : found('contradicted', endToEndId, 'other_txid', txid);
};

/** Returns the Pix as the charge's own connection lists it, or null if that one doesn't. */
const confirmedByOwn = async (
  handling: Handling,
  { tenant, connectionId }: ConnectionPayment,
  received: ReceivedPayment,
): Promise<ReceivedPayment | null> => {
  const own = await ownConnection(handling, connectionId);
  if (own === null) return null;
  if (own === handling.connection) return received;
  const { providerPaymentId } = received.incoming;
  const answer = await own.provider.findPayment(tenant, providerPaymentId);
  if (answer.kind !== 'known')
    throw new UnknownAtProvider(`payment ${providerPaymentId} at connection ${connectionId}`);
  return answer.value?.txid === received.txid ? answer.value : null;
};

/**
 * Returns the connection of a charge or payout, or null if it was removed. Throws UnknownAtProvider while it is disabled. An institution
 * has one webhook per Pix key, so callbacks about older charges and payouts arrive at the newest connection with the key.
 */
const ownConnection = async (
  { connection, providerConnections }: Handling,
  id: ConnectionId,
): Promise<OpenConnection | null> => {
  if (id === connection.terms.connectionId) return connection;
  const own = await providerConnections.open(id);
  if (own === null && (await providerConnections.statusOf(id)) !== 'removed')
    throw new UnknownAtProvider(`connection ${id}`);
  return own;
};

/** A shared connection finds its payments without their account, which only the charge names. */
const ownerOf = ({ terms }: OpenConnection): Tenant => ({
  accountId: terms.accountId ?? PLATFORM_ACCOUNT,
  mode: 'live',
});

/** Starts the jobs of refunds and returns that Quita requested and that the institution reports. They ask for the outcome. */
export const startOwnReturns =
  ({ commands, notifications }: Pick<CallbackHandling, 'commands' | 'notifications'>): TakeReturns =>
  async ({ tenant, paymentId }, { incoming: { providerPaymentId }, returns }) => {
    const { state } = await commands.load(PAYMENT, PAYMENT.stream(paymentId));
    if (!exists(state)) return;
    const { transaction } = state;
    const refunds = transaction.status === 'settled' ? transaction.refunds : [];
    for (const { refundId } of refunds)
      if (returns.some(({ id }) => id === refundId))
        await notifications.startJob(tenant, 'refund', { paymentId, refundId });
    const rejected = transaction.incomingPayments.find((seen) => seen.providerPaymentId === providerPaymentId);
    if (rejected?.outcome === 'rejected' && returns.some(({ id }) => id === rejected.returnId))
      await notifications.startJob(tenant, 'return', { paymentId, providerPaymentId });
  };

// --- Sent payments: payouts, and refunds by `cashout`. Their jobs ask their own connection for the outcome ---

const handleSent = async (handling: Handling, sent: string): Promise<CallbackFinding | null> => {
  const { commands, notifications } = handling;
  const unknown = found('unmatched', sent, 'unknown_id');
  const isOfNone = async (id: ConnectionId | null) => id === null || (await ownConnection(handling, id)) === null;
  const payoutId = parseId<PayoutId>(sent);
  if (payoutId === null) return unknown;
  const { state: payout } = await commands.load(PAYOUT, PAYOUT.stream(payoutId));
  if (payout.status !== 'absent') {
    const { terms } = payout;
    if (await isOfNone(terms.connectionId)) return unknown;
    await notifications.startJob(terms, 'payout', { payoutId });
    return null;
  }
  const refundId = parseId<RefundId>(sent) as RefundId;
  const { state: refund } = await commands.load(REFUND, REFUND.stream(refundId));
  if (refund.status === 'absent') return unknown;
  const { paymentId } = refund.order;
  const { state: payment } = await commands.load(PAYMENT, PAYMENT.stream(paymentId));
  if (!exists(payment) || (await isOfNone(payment.charge.terms.connectionId))) return unknown;
  await notifications.startJob(refund.order, 'refund', { paymentId, refundId });
  return null;
};
