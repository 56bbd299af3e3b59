// A merchant's webhook endpoint. Events hold only the version of the signing secret.

import { aggregate } from '../kernel/aggregate.ts';
import { type Decider, type Decision, type Fact, ignore } from '../kernel/decider.ts';
import { oneGroup } from '../kernel/eventGroups.ts';
import type { EndpointId, Tenant } from '../kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../kernel/rejection.ts';
import { integer, listOf, nullable, oneOf, record, type Serde, serdeOf, text, time } from '../kernel/serde.ts';
import { addMillis, DAY_MS, type Timestamp } from '../kernel/time.ts';
import { ENDPOINT_ERRORS } from './errors.ts';

export interface Endpoint extends Tenant {
  readonly endpointId: EndpointId;
  readonly url: string;
  /** Names from the catalogue, or only `*` for all of them (W6). */
  readonly events: readonly string[];
  readonly secretVersion: number;
}

export type WebhookEndpointRegistered = Fact<'WebhookEndpointRegistered', Endpoint & { readonly at: Timestamp }>;
/** A change by the merchant. null leaves a field unchanged; at least one is not null. */
export interface EndpointChange {
  readonly url: string | null;
  readonly events: readonly string[] | null;
  /** An `inactive` endpoint gets no new deliveries, and pending ones wait (W6). */
  readonly status: 'active' | 'inactive' | null;
}
export type WebhookEndpointChanged = Fact<'WebhookEndpointChanged', EndpointChange & { readonly at: Timestamp }>;
/** From now on, messages are signed with the secret of this version. */
export type WebhookEndpointSecretRotated = Fact<
  'WebhookEndpointSecretRotated',
  { readonly secretVersion: number; readonly at: Timestamp }
>;
/** The endpoint was deleted; its pending deliveries are cancelled. */
export type WebhookEndpointDeleted = Fact<'WebhookEndpointDeleted', { readonly at: Timestamp }>;
export type WebhookEndpointEvent =
  | WebhookEndpointRegistered
  | WebhookEndpointChanged
  | WebhookEndpointSecretRotated
  | WebhookEndpointDeleted;

interface Known extends Endpoint {
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}
type ActiveEndpoint = Known & { readonly status: 'active' };
type InactiveEndpoint = Known & { readonly status: 'inactive'; readonly inactiveSince: Timestamp };
/** An endpoint that is not deleted. */
export type ExistingEndpoint = ActiveEndpoint | InactiveEndpoint;
export type WebhookEndpointState =
  | { readonly status: 'absent' }
  | ExistingEndpoint
  | (Known & { readonly status: 'deleted' });

const exists = (state: WebhookEndpointState): state is ExistingEndpoint =>
  state.status === 'active' || state.status === 'inactive';

const withStatus = (endpoint: ExistingEndpoint, status: 'active' | 'inactive', at: Timestamp): ExistingEndpoint => {
  if (status === endpoint.status) return endpoint;
  if (status === 'inactive') return { ...endpoint, status, inactiveSince: at };
  const { inactiveSince: _, ...known } = endpoint as InactiveEndpoint;
  return { ...known, status };
};

const evolve = (state: WebhookEndpointState, event: WebhookEndpointEvent): WebhookEndpointState => {
  if (event.type === 'WebhookEndpointRegistered') {
    const { at, ...endpoint } = event.data;
    return { status: 'active', ...endpoint, createdAt: at, updatedAt: at };
  }
  if (!exists(state)) return state;
  switch (event.type) {
    case 'WebhookEndpointChanged': {
      const { url, events, status, at } = event.data;
      const changed = { ...state, url: url ?? state.url, events: events ?? state.events, updatedAt: at };
      return withStatus(changed, status ?? state.status, at);
    }
    case 'WebhookEndpointSecretRotated':
      return { ...state, secretVersion: event.data.secretVersion, updatedAt: event.data.at };
    case 'WebhookEndpointDeleted': {
      const known = withStatus(state, 'active', event.data.at);
      return { ...known, status: 'deleted', updatedAt: event.data.at };
    }
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

interface Owner extends Tenant {}

/** Returns the owner's endpoint. Rejects missing, deleted and other tenants' endpoints alike with `not_found`. */
export const ownedBy = (state: WebhookEndpointState, { accountId, mode }: Owner): ExistingEndpoint | Rejection =>
  exists(state) && state.accountId === accountId && state.mode === mode
    ? state
    : reject('not_found', 'There is no such webhook endpoint.');

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name, i) => name === b[i]);

/** Changes the endpoint. No-op if nothing differs. Rejects with `not_found`. */
export const changeEndpoint =
  (
    owner: Owner,
    { url, events, status }: EndpointChange,
    at: Timestamp,
  ): Decision<WebhookEndpointState, WebhookEndpointEvent, 'changed'> =>
  (state) => {
    const endpoint = ownedBy(state, owner);
    if (isRejection(endpoint)) return endpoint;
    const change: EndpointChange = {
      url: url === endpoint.url ? null : url,
      events: events !== null && isSame(events, endpoint.events) ? null : events,
      status: status === endpoint.status ? null : status,
    };
    const isChanged = Object.values(change).some((value) => value !== null);
    return { events: isChanged ? [{ type: 'WebhookEndpointChanged', data: { ...change, at } }] : [], reply: 'changed' };
  };

/**
 * Makes the secret of `secretVersion` the signing secret. Replies 'taken' if this is not the next version, because another rotation was
 * faster. Rejects with `not_found`.
 */
export const rotateEndpointSecret =
  (
    owner: Owner,
    secretVersion: number,
    at: Timestamp,
  ): Decision<WebhookEndpointState, WebhookEndpointEvent, 'rotated' | 'taken'> =>
  (state) => {
    const endpoint = ownedBy(state, owner);
    if (isRejection(endpoint)) return endpoint;
    if (secretVersion !== endpoint.secretVersion + 1) return { events: [], reply: 'taken' };
    return { events: [{ type: 'WebhookEndpointSecretRotated', data: { secretVersion, at } }], reply: 'rotated' };
  };

/** Deletes the endpoint. Rejects with `not_found`, also if it is already deleted. */
export const deleteEndpoint =
  (owner: Owner, at: Timestamp): Decision<WebhookEndpointState, WebhookEndpointEvent, 'deleted'> =>
  (state) => {
    const endpoint = ownedBy(state, owner);
    if (isRejection(endpoint)) return endpoint;
    return { events: [{ type: 'WebhookEndpointDeleted', data: { at } }], reply: 'deleted' };
  };

/** Pending deliveries of an inactive endpoint are cancelled after this time (W6). */
const INACTIVE_MS = 7 * DAY_MS;

/** Returns when deliveries to an inactive endpoint are cancelled (account time). */
export const waitsUntil = ({ inactiveSince }: InactiveEndpoint): Timestamp => addMillis(inactiveSince, INACTIVE_MS);

/** Returns whether an endpoint with these subscriptions receives events of this name. */
export const wants = (subscriptions: readonly string[], eventType: string): boolean =>
  subscriptions.includes('*') || subscriptions.includes(eventType);

const webhookEndpointSerde: Serde<WebhookEndpointEvent> = serdeOf<WebhookEndpointEvent>({
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
  WebhookEndpointChanged: {
    version: 1,
    shape: record<EndpointChange & { at: Timestamp }>({
      url: nullable(text()),
      events: nullable(listOf(text())),
      status: nullable(oneOf('active', 'inactive')),
      at: time,
    }),
    personal: ['url'],
  },
  WebhookEndpointSecretRotated: { version: 1, shape: record({ secretVersion: integer, at: time }), personal: [] },
  WebhookEndpointDeleted: { version: 1, shape: record({ at: time }), personal: [] },
});

export const WEBHOOK_ENDPOINT = aggregate<EndpointId>()({
  category: 'webhookEndpoint',
  changesMax: 2_000,
  idPrefix: 'we_',
  decider: webhookEndpoint,
  serde: webhookEndpointSerde,
  errors: ENDPOINT_ERRORS,
  groups: oneGroup(webhookEndpointSerde),
  isRare: true,
});
