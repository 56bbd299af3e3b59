// POST /v1/payments/{id}/resend-webhook (rule W8): the messages of the transition into the present status, as fresh deliveries.

import type { PaymentId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { type ExistingPayment, exists, type PaymentEvent, type PaymentState } from '../../domain/payment/payment.ts';
import { requestResend } from '../../domain/payment/resend.ts';
import { resentMessagesOf } from '../../domain/presentation/messages.ts';
import { type TransactionStatus, transactionStatus } from '../../domain/presentation/status.ts';
import { wants } from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import type { Accounts } from '../core/accounts.ts';
import type { Around, CommandHandler } from '../core/commandHandler.ts';
import { type Actor, metadataForRequest } from '../core/eventMetadata.ts';
import { isOwn, NO_PAYMENT } from '../payments/ownPayment.ts';
import type { Tenant } from '../ports/paymentProvider.ts';
import type { EndpointReads } from '../ports/readModels/webhookEndpoints.ts';

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly endpoints: Pick<EndpointReads, 'subscriptions'>;
}

interface Resend {
  /** Whether any endpoint, or the payment's own URL, wants one of the messages. */
  readonly resent: boolean;
  /** The present status of the payment. */
  readonly status: TransactionStatus;
}

/**
 * Records that the webhooks of the present status are asked for again. Every call is a resend of its own; past the bound it is rejected
 * with `resend_limit_reached` (M7). The process webhookFanOut schedules the deliveries, so they survive this process.
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
 * Returns the latest transition into the present status that has messages; where none has, the latest one. After a dispute was won it is
 * the settlement, because the end of the dispute sends none of that family. null: there is no such payment.
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
