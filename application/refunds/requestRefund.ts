// POST /v1/payments/{id}/refund: reserves the refund in the payment's stream. A process executes it.

import type { OpenAccount } from '../../domain/account/account.ts';
import { allowedDestinations } from '../../domain/account/cashoutDestinations.ts';
import type { Mode, PaymentId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { type Reserved, type ReserveRefund, reserveRefund } from '../../domain/payment/refund.ts';
import {
  REFUND_FINGERPRINT_VERSION,
  type RefundBody,
  refundFingerprintFields,
  refundRequest,
} from '../../domain/refund/request.ts';
import { type RefundVelocity, refundVelocity } from '../../domain/refund/settings.ts';
import { fingerprintOf, refundIdOf } from '../core/derivedIds.ts';
import { metadataForRequest } from '../core/eventMetadata.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import { isOwn, NO_PAYMENT } from '../payments/ownPayment.ts';
import type { Connected, PaymentProviders } from '../ports/paymentProvider.ts';
import type { ProviderConnections } from '../ports/providerConnections.ts';
import type { RefundGuard, RefundReservation } from '../ports/refundGuard.ts';

interface RequestRefundCommand {
  readonly account: OpenAccount;
  readonly mode: Mode;
  readonly paymentId: PaymentId;
  readonly body: RefundBody;
  readonly actor: string;
  readonly requestId: string;
}

interface Needs extends UseCaseNeeds {
  readonly providers: Pick<PaymentProviders, 'of'>;
  readonly providerConnections: Pick<ProviderConnections, 'statusOf'>;
  readonly refundGuard: RefundGuard;
}

type Wanted = Pick<RequestRefundCommand, 'account' | 'mode' | 'paymentId' | 'body'>;

/**
 * Returns whether the payment's provider sends Pix payments, null while its connection is disabled, or `removed`: a refund would then wait
 * for ever.
 */
const paysOut = async (
  { providers, providerConnections }: Pick<Needs, 'providers' | 'providerConnections'>,
  payment: Connected,
): Promise<ReserveRefund['paysOut']> => {
  const provider = await providers.of(payment);
  if (provider !== null || payment.connectionId === null) return provider?.paysOut ?? null;
  return (await providerConnections.statusOf(payment.connectionId)) === 'removed' ? 'removed' : null;
};

/** Judges a refund by the payment as it is now. Records nothing. */
const judge = async (needs: Omit<Needs, 'refundGuard'>, { account, mode, paymentId, body }: Wanted) => {
  const { commands, accounts } = needs;
  const { accountId } = account;
  const { state } = await commands.load(PAYMENT, PAYMENT.stream(paymentId));
  if (!isOwn(state, { accountId, mode })) return NO_PAYMENT;
  const { settings } = await accounts.get(accountId);
  const wish = {
    ...refundRequest(body),
    refundId: refundIdOf(account, mode, paymentId, body.idempotencyKey),
    fingerprintUnder: (version: number) => fingerprintOf(account, version, refundFingerprintFields(body)),
    fingerprintVersion: REFUND_FINGERPRINT_VERSION,
    allowedDestinations: allowedDestinations(settings, mode),
    paysOut: await paysOut(needs, state.charge.terms),
  };
  const at = await accounts.now(accountId, mode);
  return { wish, at, settings, judged: reserveRefund(wish, at)(state) };
};

/** Returns the refund as it would be reserved now, hourly limits aside, or why it would be refused. */
export const quoteRefund =
  (needs: Omit<Needs, 'refundGuard'>) =>
  async (wanted: Wanted): Promise<Reserved['refund'] | Rejection> => {
    const found = await judge(needs, wanted);
    if (isRejection(found)) return found;
    return isRejection(found.judged) ? found.judged : found.judged.reply.refund;
  };

/** Reserves a refund. Returns it as it was reserved, and whether this is a replay (K3). */
export const requestRefund =
  (needs: Needs) =>
  async ({ actor, requestId, ...wanted }: RequestRefundCommand): Promise<Reserved | Rejection> => {
    const { commands, refundGuard } = needs;
    const { account, mode, paymentId } = wanted;
    const { accountId } = account;
    const found = await judge(needs, wanted);
    if (isRejection(found)) return found;
    const { wish, at, settings, judged } = found;
    const limits = refundVelocity.of(settings);
    // Only a refund that would otherwise be accepted counts towards the limits; a replay does not.
    const isCounted = mode === 'live' && isLimited(limits) && !isRejection(judged) && !judged.reply.replayed;
    if (isCounted) {
      const refusal = await limitRefusal(refundGuard, { accountId, at, ...limits, ...judged.reply.refund });
      if (refusal !== null) return refusal;
    }
    const metadata = metadataForRequest({ actor, requestId }, { accountId, mode }, paymentId);
    // The rest may have grown since it was counted, because another refund failed.
    const counted = isRejection(judged) ? {} : { restMax: judged.reply.refund.amount };
    const decide = reserveRefund({ ...wish, ...counted }, at);
    const done = await commands.execute(PAYMENT, PAYMENT.stream(paymentId), decide, metadata);
    if (!isRejection(done)) return done.reply;
    // The payment changed since it was judged. A refund that is rejected for another reason does not count (M7b).
    if (isCounted) await refundGuard.release({ refundId: wish.refundId, accountId });
    return done;
  };

const isLimited = ({ countPerHour, sumPerHour }: RefundVelocity): boolean =>
  countPerHour !== null || sumPerHour !== null;

/** Counts the refund towards the account's hourly limits and returns null, or returns `fraud.account_velocity_exceeded` (M7b). */
const limitRefusal = async (
  guard: RefundGuard,
  { refundId, accountId, amount, currency, at, countPerHour, sumPerHour }: RefundReservation,
): Promise<Rejection | null> => {
  const outcome = await guard.reserve({ refundId, accountId, amount, currency, at, countPerHour, sumPerHour });
  if (outcome === 'count')
    return reject('fraud.account_velocity_exceeded', 'Too many refunds by this account within one hour.');
  return outcome === 'sum'
    ? reject('fraud.account_velocity_exceeded', 'This refund would exceed the account’s hourly refund limit.')
    : null;
};
