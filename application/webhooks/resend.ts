// Sends webhooks again at a merchant's request (rule W8): the messages about a payment's status, or one delivery.

import type { DeliveryId, EndpointId, PaymentId, Tenant } from '../../domain/kernel/ids.ts';
import { MESSAGE_FORM } from '../../domain/kernel/publisher.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { type ExistingPayment, exists, type PaymentEvent, type PaymentState } from '../../domain/payment/payment.ts';
import { requestResend } from '../../domain/payment/resend.ts';
import type { ExistingDelivery } from '../../domain/presentation/delivery.ts';
import { resentMessagesOf } from '../../domain/presentation/messages.ts';
import { type TransactionStatus, transactionStatus } from '../../domain/presentation/status.ts';
import {
  correlationOf,
  type Delivery,
  requestRetry,
  type Scheduled,
  scheduled as scheduledState,
  targetOf,
  WEBHOOK_DELIVERY,
  type WebhookDeliveryState,
} from '../../domain/webhookDelivery/webhookDelivery.ts';
import { WEBHOOK_ENDPOINT, wants } from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import type { CommandHandler, Step } from '../core/commandHandler.ts';
import { type Actor, metadataForRequest } from '../core/eventMetadata.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import { isOwn, NO_PAYMENT } from '../payments/ownPayment.ts';
import type { EndpointReads } from '../ports/readModels/views.ts';
import type { ScheduledDeliveries } from '../ports/scheduledDeliveries.ts';
import type { StreamMessages } from './streamMessages.ts';

// --- POST /v1/webhooks/deliveries/{id}/retry: sends one delivery at once, whatever its status ---

interface RetryNeeds extends UseCaseNeeds {
  readonly messages: StreamMessages;
  readonly scheduled: Pick<ScheduledDeliveries, 'find' | 'begun'>;
}

const NO_DELIVERY = reject('not_found', 'There is no such delivery.');

/**
 * Requests an immediate attempt of a delivery, even if it has ended or waits for a failing endpoint. Returns the delivery after the change.
 * No-op if an attempt is already due. Rejects, in this order, with `not_found` and `endpoint_not_active`.
 */
export const retryDelivery =
  (needs: RetryNeeds) =>
  async (tenant: Tenant, id: DeliveryId, requester: Actor): Promise<ExistingDelivery | Rejection> => {
    const { commands, accounts, scheduled } = needs;
    const of = await ownDelivery(needs, tenant, id);
    if (of === null) return NO_DELIVERY;
    const refused = await endpointRefused(commands, of.delivery.endpointId);
    if (refused !== null) return refused;
    const request = requestRetry(of, await accounts.now(tenant.accountId, tenant.mode));
    // If retention deleted the delivery since it was read, it must not start again.
    const decide = (state: WebhookDeliveryState) =>
      of.hasBegun && state.status === 'absent' ? NO_DELIVERY : request(state);
    const metadata = metadataForRequest(requester, tenant, correlationOf(of.delivery));
    const done = await commands.execute(WEBHOOK_DELIVERY, WEBHOOK_DELIVERY.stream(id), decide, metadata, {
      isLimited: true,
    });
    if (isRejection(done)) return done;
    if (done.state.status === 'absent') return scheduledState(of.delivery, of.target);
    scheduled.begun(id);
    return done.state;
  };

/** `hasBegun`: the delivery was read from its stream, so at least one attempt was made. */
interface Found extends Scheduled {
  readonly hasBegun: boolean;
}

/** Returns null if the tenant has no such delivery. */
const ownDelivery = async (
  { commands, messages, scheduled }: RetryNeeds,
  tenant: Tenant,
  id: DeliveryId,
): Promise<Found | null> => {
  const { state } = await commands.load(WEBHOOK_DELIVERY, WEBHOOK_DELIVERY.stream(id));
  if (state.status !== 'absent') return ofTenant(tenant, await withTarget(messages, state.delivery), true);
  const waiting = (await scheduled.find([id])).get(id);
  if (waiting === undefined) return null;
  const { delivery, target } = waiting;
  return ofTenant(tenant, { delivery: { ...delivery, form: MESSAGE_FORM }, target, tenant: waiting.tenant }, false);
};

interface Owned extends Scheduled {
  readonly tenant: Tenant;
}

const ofTenant = ({ accountId, mode }: Tenant, { tenant, ...of }: Owned, hasBegun: boolean): Found | null =>
  tenant.accountId === accountId && tenant.mode === mode ? { ...of, hasBegun } : null;

/** Returns a delivery with its target, which derives from its endpoint or from the stream of its event. */
export const withTarget = async (messages: StreamMessages, delivery: Delivery): Promise<Owned> => {
  const { tenant, url } = (await messages.of(delivery)).published;
  const { endpointId } = delivery;
  return { delivery, target: targetOf({ endpointId, url, ...tenant }), tenant };
};

/** Returns why the endpoint accepts no deliveries, or null if it does. A payment's own URL (`endpointId` null) always does. */
export const endpointRefused = async (
  commands: CommandHandler,
  endpointId: EndpointId | null,
): Promise<Rejection | null> => {
  if (endpointId === null) return null;
  const { state } = await commands.load(WEBHOOK_ENDPOINT, WEBHOOK_ENDPOINT.stream(endpointId));
  if (state.status === 'active') return null;
  return state.status === 'inactive'
    ? reject('endpoint_not_active', 'The endpoint of the delivery is inactive. Activate it first.')
    : reject('endpoint_not_active', 'The endpoint of the delivery was deleted. The delivery can’t be sent again.');
};

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
  ({ commands, accounts, endpoints }: UseCaseNeeds & { readonly endpoints: Pick<EndpointReads, 'subscriptions'> }) =>
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

const typesOf = ({ before, event, after }: Step<PaymentState, PaymentEvent>): readonly string[] =>
  resentMessagesOf(before, event, after).map(({ type }) => type);

/**
 * Returns the latest transition into the current status that has messages. If none has, returns the latest transition. After a won dispute
 * this is the settlement, because the end of a dispute has no messages of that family. Returns null if the payment does not exist.
 */
const lastTransition = async (
  commands: CommandHandler,
  id: PaymentId,
): Promise<Step<PaymentState, PaymentEvent> | null> => {
  let last: Step<PaymentState, PaymentEvent> | null = null;
  const withMessages = new Map<TransactionStatus | null, Step<PaymentState, PaymentEvent>>();
  for await (const step of commands.loadSteps(PAYMENT, PAYMENT.stream(id))) {
    if (statusOf(step.before) === statusOf(step.after)) continue;
    last = step;
    if (typesOf(step).length > 0) withMessages.set(statusOf(step.after), step);
  }
  return last && (withMessages.get(statusOf(last.after)) ?? last);
};

const statusOf = (state: PaymentState): TransactionStatus | null =>
  exists(state) ? transactionStatus(state satisfies ExistingPayment) : null;
