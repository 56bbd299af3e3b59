// POST /v1/payments/{id}/resend-webhook (rule W8): sends the messages about the current status again, as new deliveries.

import type { PaymentId, Tenant } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { type ExistingPayment, exists, type PaymentEvent, type PaymentState } from '../../domain/payment/payment.ts';
import { requestResend } from '../../domain/payment/resend.ts';
import { resentMessagesOf } from '../../domain/presentation/messages.ts';
import { type TransactionStatus, transactionStatus } from '../../domain/presentation/status.ts';
import { wants } from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import type { Around, CommandHandler } from '../core/commandHandler.ts';
import { type Actor, metadataForRequest } from '../core/eventMetadata.ts';
import type { UseCaseNeeds } from '../core/useCaseNeeds.ts';
import { isOwn, NO_PAYMENT } from '../payments/ownPayment.ts';
import type { EndpointReads } from '../ports/readModels/webhookEndpoints.ts';

interface Needs extends UseCaseNeeds {
  readonly endpoints: Pick<EndpointReads, 'subscriptions'>;
}

interface Resend {
  /** Whether an endpoint subscribes to one of the messages, or the payment has its own URL. */
  readonly resent: boolean;
  /** The current status of the payment. */
  readonly status: TransactionStatus;
}

/**
 * Records a request to send the webhooks of the current status again. Every call is a separate resend. Rejects with `resend_limit_reached`
 * beyond the limit (M7). The process webhookFanOut schedules the deliveries, so they survive a crash of this process.
 */
export const resendWebhook =
  ({ commands, accounts, endpoints }: Needs) =>
  async (tenant: Tenant, id: PaymentId, requester: Actor): Promise<Resend | Rejection> => {
    const last = await lastTransition(commands, id);
    if (last === null || !isOwn(last.after, tenant)) return NO_PAYMENT;
    const status = transactionStatus(last.after);
    const types = typesOf(last);
    const { accountId, mode, webhookUrl } = last.after.charge.terms;
    const subscriptions = webhookUrl === null ? await endpoints.subscriptions(tenant) : [['*']];
    const isWanted = types.some((type) => subscriptions.some((events) => wants(events, type)));
    const decide = requestResend({ ofRevision: last.revision, isWanted }, await accounts.now(accountId, mode));
    const metadata = metadataForRequest(requester, tenant, id);
    const done = await commands.execute(PAYMENT, PAYMENT.stream(id), decide, metadata);
    return isRejection(done) ? done : { resent: isWanted, status };
  };

const typesOf = ({ before, event, after }: Around<PaymentState, PaymentEvent>): readonly string[] =>
  resentMessagesOf(before, event, after).map(({ type }) => type);

/**
 * Returns the latest transition into the current status that has messages. If none has, returns the latest transition. After a won dispute
 * this is the settlement, because the end of a dispute has no messages of that family. Returns null if the payment does not exist.
 */
const lastTransition = async (
  commands: CommandHandler,
  id: PaymentId,
): Promise<Around<PaymentState, PaymentEvent> | null> => {
  let last: Around<PaymentState, PaymentEvent> | null = null;
  const withMessages = new Map<TransactionStatus | null, Around<PaymentState, PaymentEvent>>();
  for await (const step of commands.loadSteps(PAYMENT, PAYMENT.stream(id))) {
    if (statusOf(step.before) === statusOf(step.after)) continue;
    last = step;
    if (typesOf(step).length > 0) withMessages.set(statusOf(step.after), step);
  }
  return last && (withMessages.get(statusOf(last.after)) ?? last);
};

const statusOf = (state: PaymentState): TransactionStatus | null =>
  exists(state) ? transactionStatus(state satisfies ExistingPayment) : null;
