// Operators' decisions about a provider connection. Every decision is idempotent. A connection that is missing or removed is `not_found`.
import type { Decision } from '../kernel/decider.ts';
import { isRejection, type Rejection, reject, SECRET_MADE_BEFORE } from '../kernel/rejection.ts';
import { addMillis, DAY_MS, type Timestamp } from '../kernel/time.ts';
import type { Connection, ConnectionState, ProviderConnectionEvent, SecretVersions } from './aggregate.ts';
import type { ConnectionSettings, ConnectionTerms } from './connection.ts';

/** How long the previous callback secret is accepted after a rotation. */
const PREVIOUS_CALLBACK_MS = DAY_MS;

type Decides<Reply> = Decision<ConnectionState, ProviderConnectionEvent, Reply>;

export const NO_CONNECTION = reject('not_found', 'There is no such provider connection.');

/** Returns the connection. Rejects a missing or removed one with `not_found`. */
export const knownConnection = (state: ConnectionState): Connection | Rejection =>
  state.status === 'absent' || state.status === 'removed' ? NO_CONNECTION : state;

export const addConnection =
  (terms: ConnectionTerms, versions: SecretVersions, at: Timestamp): Decides<'added'> =>
  (state) => ({
    events: state.status === 'absent' ? [{ type: 'ProviderConnectionAdded', data: { ...terms, ...versions, at } }] : [],
    reply: 'added',
  });

/** Returns the fields whose values differ. */
export const changedFields = (
  terms: ConnectionSettings,
  change: Partial<ConnectionSettings>,
): readonly (keyof ConnectionSettings)[] =>
  (Object.keys(change) as (keyof ConnectionSettings)[]).filter(
    (field) => JSON.stringify(change[field]) !== JSON.stringify(terms[field]),
  );

const settingsOf = ({ connectionId: _, kind: _kind, preset: _preset, ...settings }: ConnectionTerms) => settings;

/** Changes settings. `privateKeyVersion` null: the private key stays. No-op if nothing differs. Rejects with `not_found`. */
export const changeConnection =
  (change: Partial<ConnectionSettings>, privateKeyVersion: number | null, at: Timestamp): Decides<'changed'> =>
  (state) => {
    const connection = knownConnection(state);
    if (isRejection(connection)) return connection;
    const version = privateKeyVersion ?? connection.privateKeyVersion;
    const isSame = changedFields(connection.terms, change).length === 0 && version === connection.privateKeyVersion;
    const data = { ...settingsOf(connection.terms), ...change, privateKeyVersion: version, at };
    return { events: isSame ? [] : [{ type: 'ProviderConnectionChanged', data }], reply: 'changed' };
  };

/** Moves the connection to a status (V5). No-op if it has that status. Rejects with `not_found`. */
export const switchConnection =
  (to: 'enabled' | 'draining' | 'disabled', at: Timestamp): Decides<'switched'> =>
  (state) => {
    const connection = knownConnection(state);
    if (isRejection(connection)) return connection;
    const type = (
      {
        enabled: 'ProviderConnectionEnabled',
        draining: 'ProviderConnectionDrained',
        disabled: 'ProviderConnectionDisabled',
      } as const
    )[to];
    return { events: connection.status === to ? [] : [{ type, data: { at } }], reply: 'switched' };
  };

/** What a connection still has to finish. */
export interface ConnectionWork {
  /** Payments that are not final. */
  readonly payments: number;
  readonly payouts: number;
  /** Callbacks, and notifications of payments, that are not handled. */
  readonly callbacks: number;
}

export const hasWork = ({ payments, payouts, callbacks }: ConnectionWork): boolean =>
  payments + payouts + callbacks > 0;

/** Removes the connection. No-op if it is removed. Rejects, in this order, with `not_found` and `connection_in_use`. */
export const removeConnection =
  (work: ConnectionWork, at: Timestamp): Decides<'removed'> =>
  (state) => {
    if (state.status === 'removed') return { events: [], reply: 'removed' };
    const connection = knownConnection(state);
    if (isRejection(connection)) return connection;
    if (hasWork(work)) return inUse(work);
    return { events: [{ type: 'ProviderConnectionRemoved', data: { at } }], reply: 'removed' };
  };

export const inUse = ({ payments, payouts, callbacks }: ConnectionWork): Rejection => {
  const open = payments + payouts;
  const work = [
    ...(open > 0 ? [`payments or payouts that are not final (${open})`] : []),
    ...(callbacks > 0 ? [`callbacks that are not handled (${callbacks})`] : []),
  ];
  return reject(
    'connection_in_use',
    `The connection has ${work.join(' and ')}. Drain it and wait until nothing is open.`,
  );
};

/** Restores a removed connection, so that it can finish requests made during the removal. No-op if it isn't removed. */
export const restoreConnection =
  (at: Timestamp): Decides<'restored'> =>
  (state) => ({
    events: state.status === 'removed' ? [{ type: 'ProviderConnectionRestored', data: { at } }] : [],
    reply: 'restored',
  });

/**
 * Makes the client secret of this version the current one. Replies `taken` if a later version is current, because another rotation was
 * faster. Rejects with `not_found`.
 */
export const rotateClientSecret =
  (clientSecretVersion: number, at: Timestamp): Decides<'rotated' | 'taken'> =>
  (state) => {
    const connection = knownConnection(state);
    if (isRejection(connection)) return connection;
    if (clientSecretVersion === connection.clientSecretVersion) return { events: [], reply: 'rotated' };
    if (clientSecretVersion < connection.clientSecretVersion) return { events: [], reply: 'taken' };
    return {
      events: [{ type: 'ProviderConnectionClientSecretRotated', data: { clientSecretVersion, at } }],
      reply: 'rotated',
    };
  };

/**
 * Makes the callback secret of this version the current one. The previous one is accepted for 24 hours, or until the next rotation. Replies
 * `taken` if a later version is current. `seenAt`: the `changedAt` that the operator saw; null for any. Rejects, in this order, with
 * `not_found` and, if the connection has changed since it was seen, `invalid_request`.
 */
export const rotateCallbackSecret =
  (callbackSecretVersion: number, at: Timestamp, seenAt: Timestamp | null = null): Decides<'rotated' | 'taken'> =>
  (state) => {
    const connection = knownConnection(state);
    if (isRejection(connection)) return connection;
    if (seenAt !== null && seenAt !== connection.changedAt) return SECRET_MADE_BEFORE;
    if (callbackSecretVersion === connection.callbackSecretVersion) return { events: [], reply: 'rotated' };
    if (callbackSecretVersion < connection.callbackSecretVersion) return { events: [], reply: 'taken' };
    const previousUntil = addMillis(at, PREVIOUS_CALLBACK_MS);
    return {
      events: [{ type: 'ProviderConnectionCallbackSecretRotated', data: { callbackSecretVersion, previousUntil, at } }],
      reply: 'rotated',
    };
  };
