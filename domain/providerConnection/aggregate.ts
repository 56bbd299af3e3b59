// The events of a provider connection. They hold settings and the versions of secrets, never a secret: secrets are sealed in a table.
import type { PaymentMethod } from '../charge/methods.ts';
import { aggregate } from '../kernel/aggregate.ts';
import { type Decider, type Fact, ignore } from '../kernel/decider.ts';
import { oneGroup } from '../kernel/eventGroups.ts';
import type { ConnectionId } from '../kernel/ids.ts';
import { flag, integer, listOf, nullable, oneOf, record, type Shape, serdeOf, text, time } from '../kernel/serde.ts';
import type { Timestamp } from '../kernel/time.ts';
import type { ConnectionSettings, ConnectionStatus, ConnectionTerms } from './connection.ts';
import { CONNECTION_ERRORS } from './errors.ts';

/** A version names a stored secret. 0: there is no such secret. */
export interface SecretVersions {
  readonly clientSecretVersion: number;
  /** 0 without mTLS. */
  readonly privateKeyVersion: number;
  readonly callbackSecretVersion: number;
}

interface At {
  readonly at: Timestamp;
}

/** The connection was added and takes new payments. */
export type ProviderConnectionAdded = Fact<'ProviderConnectionAdded', ConnectionTerms & SecretVersions & At>;
/** An operator changed settings; the event holds all of them. A new private key has a new version. */
export type ProviderConnectionChanged = Fact<
  'ProviderConnectionChanged',
  ConnectionSettings & Pick<SecretVersions, 'privateKeyVersion'> & At
>;
/** It takes new payments (V5). */
export type ProviderConnectionEnabled = Fact<'ProviderConnectionEnabled', At>;
/** It takes no new payments; everything else continues (V5). */
export type ProviderConnectionDrained = Fact<'ProviderConnectionDrained', At>;
/** It makes no calls at all; its payments wait (V5). */
export type ProviderConnectionDisabled = Fact<'ProviderConnectionDisabled', At>;
export type ProviderConnectionRemoved = Fact<'ProviderConnectionRemoved', At>;
/** It is draining again, because a refund was requested while it was being removed. */
export type ProviderConnectionRestored = Fact<'ProviderConnectionRestored', At>;
/** From now on, tokens are requested with the secret of this version. */
export type ProviderConnectionClientSecretRotated = Fact<
  'ProviderConnectionClientSecretRotated',
  Pick<SecretVersions, 'clientSecretVersion'> & At
>;
/** The callback URL ends in the secret of this version. The previous one is accepted until `previousUntil`. */
export type ProviderConnectionCallbackSecretRotated = Fact<
  'ProviderConnectionCallbackSecretRotated',
  Pick<SecretVersions, 'callbackSecretVersion'> & { readonly previousUntil: Timestamp } & At
>;
export type ProviderConnectionEvent =
  | ProviderConnectionAdded
  | ProviderConnectionChanged
  | ProviderConnectionEnabled
  | ProviderConnectionDrained
  | ProviderConnectionDisabled
  | ProviderConnectionRemoved
  | ProviderConnectionRestored
  | ProviderConnectionClientSecretRotated
  | ProviderConnectionCallbackSecretRotated;

/** A connection that was added. */
export interface Connection extends SecretVersions {
  readonly status: ConnectionStatus;
  readonly terms: ConnectionTerms;
  /** The callback secret before the latest rotation, and until when it is accepted; null if it was never rotated. */
  readonly previousCallback: { readonly version: number; readonly until: Timestamp } | null;
  /** Earlier Pix keys, which codes issued with them still contain; absent if the key never changed. */
  readonly formerKeys?: readonly string[];
  readonly addedAt: Timestamp;
  readonly changedAt: Timestamp;
}
export type ConnectionState = { readonly status: 'absent' } | Connection;

const evolve = (state: ConnectionState, event: ProviderConnectionEvent): ConnectionState => {
  if (event.type === 'ProviderConnectionAdded') {
    const { at, clientSecretVersion, privateKeyVersion, callbackSecretVersion, ...terms } = event.data;
    const versions = { clientSecretVersion, privateKeyVersion, callbackSecretVersion };
    return { status: 'enabled', terms, ...versions, previousCallback: null, addedAt: at, changedAt: at };
  }
  if (state.status === 'absent') return state;
  const changed = { ...state, changedAt: event.data.at };
  if (state.status === 'removed')
    return event.type === 'ProviderConnectionRestored' ? { ...changed, status: 'draining' } : state;
  switch (event.type) {
    case 'ProviderConnectionChanged': {
      const { at: _, privateKeyVersion, ...settings } = event.data;
      const former = [...new Set([...(state.formerKeys ?? []), state.terms.pixKey])];
      const formerKeys = former.filter((key) => key !== settings.pixKey);
      const terms = { ...state.terms, ...settings };
      return { ...changed, terms, privateKeyVersion, ...(formerKeys.length > 0 && { formerKeys }) };
    }
    case 'ProviderConnectionEnabled':
      return { ...changed, status: 'enabled' };
    case 'ProviderConnectionDrained':
      return { ...changed, status: 'draining' };
    case 'ProviderConnectionDisabled':
      return { ...changed, status: 'disabled' };
    case 'ProviderConnectionRemoved':
      return { ...changed, status: 'removed' };
    case 'ProviderConnectionRestored':
      return state;
    case 'ProviderConnectionClientSecretRotated':
      return { ...changed, clientSecretVersion: event.data.clientSecretVersion };
    case 'ProviderConnectionCallbackSecretRotated': {
      const { callbackSecretVersion, previousUntil: until } = event.data;
      return { ...changed, callbackSecretVersion, previousCallback: { version: state.callbackSecretVersion, until } };
    }
    default:
      return ignore(state, event);
  }
};

export const providerConnection: Decider<ConnectionState, ProviderConnectionEvent> = {
  initial: { status: 'absent' },
  evolve,
};

const SETTINGS: { readonly [K in keyof ConnectionSettings]-?: Shape<ConnectionSettings[K]> } = {
  name: text(),
  baseUrl: text(),
  tokenUrl: text(),
  clientId: text(),
  pixKey: text(),
  certificate: nullable(text()),
  ca: nullable(text()),
  accountId: nullable(text()),
  methods: listOf(text<PaymentMethod>()),
  order: integer,
  requireClientCertificate: flag,
  allowPrivate: flag,
};
const onlyTime = { version: 1, shape: record<At>({ at: time }), personal: [] };

const serde = serdeOf<ProviderConnectionEvent>({
  ProviderConnectionAdded: {
    version: 1,
    shape: record<ProviderConnectionAdded['data']>({
      connectionId: text(),
      kind: oneOf('pix'),
      preset: text(),
      ...SETTINGS,
      clientSecretVersion: integer,
      privateKeyVersion: integer,
      callbackSecretVersion: integer,
      at: time,
    }),
    personal: [],
  },
  ProviderConnectionChanged: {
    version: 1,
    shape: record<ProviderConnectionChanged['data']>({ ...SETTINGS, privateKeyVersion: integer, at: time }),
    personal: [],
  },
  ProviderConnectionEnabled: onlyTime,
  ProviderConnectionDrained: onlyTime,
  ProviderConnectionDisabled: onlyTime,
  ProviderConnectionRemoved: onlyTime,
  ProviderConnectionRestored: onlyTime,
  ProviderConnectionClientSecretRotated: {
    version: 1,
    shape: record<ProviderConnectionClientSecretRotated['data']>({ clientSecretVersion: integer, at: time }),
    personal: [],
  },
  ProviderConnectionCallbackSecretRotated: {
    version: 1,
    shape: record<ProviderConnectionCallbackSecretRotated['data']>({
      callbackSecretVersion: integer,
      previousUntil: time,
      at: time,
    }),
    personal: [],
  },
});

export const PROVIDER_CONNECTION = aggregate<ConnectionId>()({
  category: 'providerConnection',
  idPrefix: 'pc_',
  decider: providerConnection,
  serde,
  errors: CONNECTION_ERRORS,
  groups: oneGroup(serde),
});
