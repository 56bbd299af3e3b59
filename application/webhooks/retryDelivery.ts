// POST /v1/webhooks/deliveries/{id}/retry (rule W8): one delivery is sent at once, whatever has become of it.

import type { DeliveryId, EndpointId } from '../../domain/kernel/ids.ts';
import { MESSAGE_FORM } from '../../domain/kernel/publisher.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { ExistingDelivery } from '../../domain/presentation/delivery.ts';
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
import { WEBHOOK_ENDPOINT } from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import type { Accounts } from '../core/accounts.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { type Actor, metadataForRequest } from '../core/eventMetadata.ts';
import type { Tenant } from '../ports/paymentProvider.ts';
import type { ScheduledDeliveries } from '../ports/scheduledDeliveries.ts';
import type { StreamMessages } from './streamMessages.ts';

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly messages: StreamMessages;
  readonly scheduled: Pick<ScheduledDeliveries, 'find' | 'begun'>;
}

const NO_DELIVERY = reject('not_found', 'There is no such delivery.');

/**
 * Has a delivery of the tenant sent at once, also one that had ended, and one that waits for a failing endpoint. Returns it as it is from
 * here on. One whose attempt is due is left as it is. Rejects, checked in this order, with `not_found` and `endpoint_not_active`.
 */
export const retryDelivery =
  (needs: Needs) =>
  async (tenant: Tenant, id: DeliveryId, requester: Actor): Promise<ExistingDelivery | Rejection> => {
    const { commands, accounts, scheduled } = needs;
    const of = await ownDelivery(needs, tenant, id);
    if (of === null) return NO_DELIVERY;
    const refused = await endpointRefused(commands, of.delivery.endpointId);
    if (refused !== null) return refused;
    const request = requestRetry(of, await accounts.now(tenant.accountId, tenant.mode));
    // One that was deleted since it was read, because it ended long ago, is not to begin anew.
    const decide = (state: WebhookDeliveryState) =>
      of.hasBegun && state.status === 'absent' ? NO_DELIVERY : request(state);
    const metadata = metadataForRequest(requester, tenant, correlationOf(of.delivery));
    const done = await commands.execute(WEBHOOK_DELIVERY, WEBHOOK_DELIVERY.stream(id), decide, metadata);
    if (isRejection(done)) return done;
    if (done.state.status === 'absent') return scheduledState(of.delivery, of.target);
    scheduled.begun(id);
    return done.state;
  };

/** `hasBegun`: it was read from its stream. */
interface Found extends Scheduled {
  readonly hasBegun: boolean;
}

/** null: the tenant has none such. */
const ownDelivery = async (
  { commands, messages, scheduled }: Needs,
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

/** Returns a delivery with its target, which follows from its endpoint or the stream that it tells of. */
export const withTarget = async (messages: StreamMessages, delivery: Delivery): Promise<Owned> => {
  const { tenant, url } = (await messages.of(delivery)).told;
  const { endpointId } = delivery;
  return { delivery, target: targetOf({ endpointId, url, ...tenant }), tenant };
};

/** Returns why nothing can be sent again to the endpoint; null when it takes deliveries, and for a payment's own URL, which has none. */
export const endpointRefused = async (
  commands: CommandHandler,
  endpointId: EndpointId | null,
): Promise<Rejection | null> => {
  if (endpointId === null) return null;
  const { state } = await commands.load(WEBHOOK_ENDPOINT, WEBHOOK_ENDPOINT.stream(endpointId));
  if (state.status === 'active') return null;
  return state.status === 'inactive'
    ? reject('endpoint_not_active', 'The endpoint of the delivery is inactive. Make it active first.')
    : reject('endpoint_not_active', 'The endpoint of the delivery was deleted: nothing goes there any more.');
};
