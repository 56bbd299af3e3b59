// POST /v1/payments/{id}/refund: the reservation in the payment's stream is the answer; a process brings it to the payer.
import type { OpenAccount } from '../../domain/account/account.ts';
import { streamName } from '../../domain/kernel/event.ts';
import type { Mode, PaymentId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import { type Reserved, reserveRefund } from '../../domain/payment/refund.ts';
import {
  REFUND_FINGERPRINT_VERSION,
  type RefundBody,
  refundFingerprintFields,
  refundRequest,
} from '../../domain/refund/request.ts';
import type { Accounts } from '../core/accounts.ts';
import { PAYMENT } from '../core/aggregates.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { refundIdOf } from '../core/derivedIds.ts';
import { metadataForRequest } from '../core/eventMetadata.ts';
import { fingerprintOf } from '../core/fingerprint.ts';
import { isOwn, NO_PAYMENT } from '../payments/ownPayment.ts';

export interface RequestRefundCommand {
  readonly account: OpenAccount;
  readonly mode: Mode;
  readonly paymentId: PaymentId;
  readonly body: RefundBody;
  readonly actor: string;
  readonly requestId: string;
}

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
}

/** The refund as it was reserved, and whether it had been before (K3). */
export const requestRefund =
  ({ commands, accounts }: Needs) =>
  async ({ account, mode, paymentId, body, actor, requestId }: RequestRefundCommand): Promise<Reserved | Rejection> => {
    const { accountId, idSeed } = account;
    const stream = streamName.payment(paymentId);
    if (!isOwn((await commands.load(PAYMENT, stream)).state, { accountId, mode })) return NO_PAYMENT;
    const wish = {
      ...refundRequest(body),
      refundId: refundIdOf(idSeed, mode, paymentId, body.idempotencyKey),
      fingerprint: refundFingerprint(body),
      allowedDestinations: (await accounts.get(accountId)).settings.cashoutDestinations,
    };
    const decide = reserveRefund(wish, await accounts.now(accountId, mode));
    const metadata = metadataForRequest({ actor, requestId }, { accountId, mode }, paymentId);
    const done = await commands.execute(PAYMENT, stream, decide, metadata);
    return isRejection(done) ? done : done.reply;
  };

/** The version of its rule stands before it, so that what was hashed under an older one is told apart. */
const refundFingerprint = (body: RefundBody): string =>
  `${REFUND_FINGERPRINT_VERSION}:${fingerprintOf(REFUND_FINGERPRINT_VERSION, refundFingerprintFields(body))}`;
