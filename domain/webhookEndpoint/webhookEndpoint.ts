// Where a merchant wants events sent. The signing secret is never in an event, only its version.
import { type Decider, type Decision, ignore } from '../kernel/decider.ts';
import type { Fact } from '../kernel/event.ts';
import type { AccountId, EndpointId, Mode } from '../kernel/ids.ts';
import { reject } from '../kernel/rejection.ts';
import { integer, listOf, oneOf, record, type Serde, serdeOf, text, time } from '../kernel/serde.ts';
import type { Timestamp } from '../kernel/time.ts';

export interface Endpoint {
  readonly endpointId: EndpointId;
  readonly accountId: AccountId;
  readonly mode: Mode;
  readonly url: string;
  /** Names of the catalogue, or `*` alone for all of them (W6). */
  readonly events: readonly string[];
  readonly secretVersion: number;
}

export type WebhookEndpointRegistered = Fact<'WebhookEndpointRegistered', Endpoint & { readonly at: Timestamp }>;
/** No delivery goes there any more; pending ones are abandoned. */
export type WebhookEndpointDeleted = Fact<'WebhookEndpointDeleted', { readonly at: Timestamp }>;
export type WebhookEndpointEvent = WebhookEndpointRegistered | WebhookEndpointDeleted;

interface Known extends Endpoint {
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}
export type WebhookEndpointState =
  | { readonly status: 'absent' }
  | (Known & { readonly status: 'active' })
  | (Known & { readonly status: 'deleted' });

const evolve = (state: WebhookEndpointState, event: WebhookEndpointEvent): WebhookEndpointState => {
  switch (event.type) {
    case 'WebhookEndpointRegistered': {
      const { at, ...endpoint } = event.data;
      return { status: 'active', ...endpoint, createdAt: at, updatedAt: at };
    }
    case 'WebhookEndpointDeleted':
      return state.status === 'active' ? { ...state, status: 'deleted', updatedAt: event.data.at } : state;
    default:
      return ignore(state, event);
  }
};
export const webhookEndpoint: Decider<WebhookEndpointState, WebhookEndpointEvent> = {
  initial: { status: 'absent' },
  evolve,
};

export const registerEndpoint =
  (endpoint: Endpoint, at: Timestamp): Decision<WebhookEndpointState, WebhookEndpointEvent, 'registered'> =>
  (state) => ({
    events: state.status === 'absent' ? [{ type: 'WebhookEndpointRegistered', data: { ...endpoint, at } }] : [],
    reply: 'registered',
  });

/** Not there, another tenant's, or deleted before: `not_found`, all alike. */
export const deleteEndpoint =
  (
    owner: { accountId: AccountId; mode: Mode },
    at: Timestamp,
  ): Decision<WebhookEndpointState, WebhookEndpointEvent, 'deleted'> =>
  (state) =>
    state.status !== 'active' || state.accountId !== owner.accountId || state.mode !== owner.mode
      ? reject('not_found', 'There is no such webhook endpoint.')
      : { events: [{ type: 'WebhookEndpointDeleted', data: { at } }], reply: 'deleted' };

/** Does an endpoint with these subscriptions want events of this name? */
export const wants = (subscriptions: readonly string[], eventType: string): boolean =>
  subscriptions.includes('*') || subscriptions.includes(eventType);

export const webhookEndpointSerde: Serde<WebhookEndpointEvent> = serdeOf<WebhookEndpointEvent>({
  WebhookEndpointRegistered: {
    version: 1,
    shape: record<Endpoint & { at: Timestamp }>({
      endpointId: text(),
      accountId: text(),
      mode: oneOf('test', 'live'),
      url: text(),
      events: listOf(text()),
      secretVersion: integer,
      at: time,
    }),
    personal: ['url'],
  },
  WebhookEndpointDeleted: { version: 1, shape: record({ at: time }), personal: [] },
});
