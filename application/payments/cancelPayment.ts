// POST /v1/payments/{id}/cancel: the wish in the stream, then the provider, then the fact.
import { streamName } from '../../domain/kernel/event.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { notCancellable, requestCancel } from '../../domain/payment/cancel.ts';
import { assertExists, type ExistingPayment } from '../../domain/payment/payment.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { PAYMENT } from '../core/aggregates.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { type Actor, byRequest } from '../core/eventMetadata.ts';
import type { Tenant } from '../ports/paymentProvider.ts';
import { ProviderUnavailable, UnknownAtProvider } from '../ports/paymentProvider.ts';
import type { Canceller } from './cancellation.ts';
import { isOwn, NO_PAYMENT } from './ownPayment.ts';

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly canceller: Canceller;
}

/**
 * The cancelled payment. Throws ProviderUnavailable when the provider does not say; it is asked until it does, by a repeat of the
 * request or without one. Cancelled before, settled or ended: `transaction_not_cancellable` (E4).
 */
export const cancelPayment =
  ({ commands, accounts, canceller }: Needs) =>
  async (tenant: Tenant, id: PaymentId, requester: Actor): Promise<ExistingPayment | Rejection> => {
    const stream = streamName.payment(id);
    const before = await commands.load(PAYMENT, stream);
    if (!isOwn(before.state, tenant)) return NO_PAYMENT;
    const { accountId, mode } = tenant;
    const why = byRequest(requester, tenant, id);
    const wished = await commands.execute(PAYMENT, stream, requestCancel(await accounts.now(accountId, mode)), why);
    if (isRejection(wished)) return wished;
    await canceller.run(id).catch(unavailable);
    const after = assertExists((await commands.load(PAYMENT, stream)).state);
    if (after.charge.status === 'cancelled') return after;
    return notCancellable(after) ?? reject('service_unavailable', 'The cancellation is still under way.');
  };

const unavailable = (error: unknown): never => {
  if (!(error instanceof UnknownAtProvider)) throw error;
  throw new ProviderUnavailable(
    'The payment provider did not answer. The cancellation goes on by itself; read the payment to see its end.',
  );
};
