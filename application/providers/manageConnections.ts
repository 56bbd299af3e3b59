// Operators add, change, switch and remove provider connections, and rotate their secrets (rules V1, V5).

import { ACCOUNT } from '../../domain/account/account.ts';
import type { Decision } from '../../domain/kernel/decider.ts';
import { type ConnectionId, idIn, PLATFORM_ACCOUNT } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject, SECRET_MADE_BEFORE } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import {
  type Connection,
  type ConnectionState,
  PROVIDER_CONNECTION,
  type ProviderConnectionEvent,
} from '../../domain/providerConnection/aggregate.ts';
import type { ConnectionSettings, ConnectionTerms } from '../../domain/providerConnection/connection.ts';
import {
  addConnection,
  type ConnectionWork,
  changeConnection,
  hasWork,
  inUse,
  knownConnection,
  removeConnection,
  restoreConnection,
  rotateCallbackSecret,
  rotateClientSecret,
  switchConnection,
} from '../../domain/providerConnection/decisions.ts';
import type { SettingProblem } from '../../domain/providerConnection/settingProblems.ts';
import { connectionIdOf } from '../core/derivedIds.ts';
import { type Changer, metadataForChange } from '../core/eventMetadata.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { ConnectionRules, ConnectionTool, ConnectionVault } from '../ports/connectionWork.ts';
import type { Consumers } from '../ports/consumers.ts';
import type { EventStore } from '../ports/eventStore.ts';
import { ReadModelsBehind } from '../ports/readModels/progress.ts';
import { type ConnectionReads, OPEN_WORK_READS } from '../ports/readModels/providers.ts';
import type { Randomness, Stopwatch } from '../ports/system.ts';

export interface ManageConnectionsNeeds extends UseCaseNeeds {
  readonly randomness: Randomness;
  readonly stopwatch: Stopwatch;
  readonly store: Pick<EventStore, 'head'>;
  readonly consumers: Pick<Consumers, 'standings'>;
  readonly connections: ConnectionReads;
  readonly connectionVault: ConnectionVault;
  readonly connectionRules: ConnectionRules;
  readonly connectionTool: ConnectionTool;
}

/** The secrets that an operator enters. `privateKey`: null without mTLS. */
export interface EnteredSecrets {
  readonly clientSecret: string;
  readonly privateKey: string | null;
}

/** A change of settings. A certificate changes together with its private key. */
export interface ConnectionChange extends Partial<ConnectionSettings> {
  /** A new private key in PEM. Absent: it stays, unless the certificate is removed. */
  readonly privateKey?: string;
}

const CLIENT_SECRET_LENGTH_MAX = 4_096;
/** 128 bits, 32 hex characters. */
const CALLBACK_SECRET_BYTES = 16;
/** Rotations that lose against another one are repeated this often. */
const ROTATIONS_MAX = 5;
/** Requests that chose the connection before it was drained or removed have written their charge or refund after this time. */
const UNDER_WAY_MS = 2_000;
const CAUGHT_UP_MS = 10_000;
/** If the program doesn't run, a change is not waited for. */
const SHOWN_MS = 2_000;
const LOOK_MS = 20;

const refused = ({ param, message }: SettingProblem): Rejection =>
  reject('invalid_connection', `${param} ${message}.`, { param });

const metadata = (by: Changer, id: ConnectionId) => metadataForChange(by, null, id);

const withoutSlash = <T extends Partial<ConnectionSettings>>(settings: T): T => {
  let baseUrl = settings.baseUrl;
  while (baseUrl?.endsWith('/')) baseUrl = baseUrl.slice(0, -1);
  return baseUrl === undefined ? settings : { ...settings, baseUrl };
};

const clientSecretProblem = (secret: string): Rejection | null =>
  secret === '' || secret.length > CLIENT_SECRET_LENGTH_MAX
    ? refused({ param: 'clientSecret', message: `must have 1 to ${CLIENT_SECRET_LENGTH_MAX} characters` })
    : null;

const accountProblem = async (
  { commands }: Pick<ManageConnectionsNeeds, 'commands'>,
  { accountId }: Partial<ConnectionSettings>,
): Promise<Rejection | null> => {
  if (accountId === null || accountId === undefined) return null;
  const { state } = await commands.load(ACCOUNT, ACCOUNT.stream(accountId));
  return state.status === 'open' ? null : refused({ param: 'accountId', message: 'is not an account' });
};

const newCallbackSecret = ({ randomness }: Pick<ManageConnectionsNeeds, 'randomness'>): string =>
  Buffer.from(randomness.bytes(CALLBACK_SECRET_BYTES)).toString('hex');

/** Returns the connection, read from its stream. Rejects a missing or removed one with `not_found`. */
export const loadConnection = async (
  { commands }: Pick<ManageConnectionsNeeds, 'commands'>,
  id: ConnectionId,
): Promise<Connection | Rejection> =>
  knownConnection((await commands.load(PROVIDER_CONNECTION, PROVIDER_CONNECTION.stream(id))).state);

type DecideNeeds = Pick<ManageConnectionsNeeds, 'commands' | 'accounts' | 'store' | 'consumers' | 'stopwatch'>;

/** Waits at most `timeoutMs` until the read models have processed the log up to this call. Returns whether they have. */
const isProcessed = async (
  { store, consumers, stopwatch }: Pick<ManageConnectionsNeeds, 'store' | 'consumers' | 'stopwatch'>,
  names: readonly string[],
  timeoutMs: number,
): Promise<boolean> => {
  const head = await store.head();
  const started = stopwatch.elapsedMs();
  for (;;) {
    const standings = await consumers.standings();
    if (head === null || names.every((name) => (standings.get(name)?.position ?? '') >= head)) return true;
    if (stopwatch.elapsedMs() - started > timeoutMs) return false;
    await stopwatch.pause(LOOK_MS);
  }
};

/** Decides, and waits briefly until the read model shows the change, so that the next request sees it. */
const decide = async <Reply>(
  needs: DecideNeeds,
  id: ConnectionId,
  decision: Decision<ConnectionState, ProviderConnectionEvent, Reply>,
  by: Changer,
): Promise<{ readonly connection: Connection; readonly reply: Reply } | Rejection> => {
  const { commands } = needs;
  const done = await commands.execute(PROVIDER_CONNECTION, PROVIDER_CONNECTION.stream(id), decision, metadata(by, id));
  if (isRejection(done)) return done;
  if (done.appended > 0) await isProcessed(needs, ['providers'], SHOWN_MS);
  return { connection: done.state as Connection, reply: done.reply };
};

/**
 * Adds an enabled connection and returns its id and callback URL. `key`: names the form, which adds one connection. Rejects a wrong
 * setting, the first in the order of the checks, with `invalid_connection`, and a key that was used before with `invalid_request`.
 */
export const addProviderConnection =
  (needs: ManageConnectionsNeeds) =>
  async (
    wanted: Omit<ConnectionTerms, 'connectionId'>,
    { clientSecret, privateKey }: EnteredSecrets,
    by: Changer,
    key: string | null = null,
  ): Promise<{ readonly connectionId: ConnectionId; readonly callbackUrl: string } | Rejection> => {
    const { connectionVault: vault, randomness } = needs;
    const connectionId =
      key === null ? idIn<ConnectionId>(PLATFORM_ACCOUNT, randomness.bytes(16)) : connectionIdOf(key);
    const terms: ConnectionTerms = { ...withoutSlash(wanted), connectionId };
    const problem = needs.connectionRules.judge(terms, privateKey);
    if (problem !== null) return refused(problem);
    const problemToo = clientSecretProblem(clientSecret) ?? (await accountProblem(needs, terms));
    if (problemToo !== null) return problemToo;
    const { state } = await needs.commands.load(PROVIDER_CONNECTION, PROVIDER_CONNECTION.stream(connectionId));
    if (state.status !== 'absent') return SECRET_MADE_BEFORE;
    const callbackSecret = newCallbackSecret(needs);
    // Stored before the event that names the versions: a connection without its secrets would be useless.
    const clientSecretVersion = await vault.keep(connectionId, 'client', clientSecret);
    const callbackSecretVersion = await vault.keep(connectionId, 'callback', callbackSecret);
    const privateKeyVersion = privateKey === null ? 0 : await vault.keep(connectionId, 'privateKey', privateKey);
    const versions = { clientSecretVersion, privateKeyVersion, callbackSecretVersion };
    const done = await decide(needs, connectionId, addConnection(terms, versions, needs.accounts.realNow()), by);
    if (isRejection(done)) return done;
    // The same form, sent at the same time, was faster.
    if (done.connection.callbackSecretVersion !== callbackSecretVersion) return SECRET_MADE_BEFORE;
    return { connectionId, callbackUrl: needs.connectionTool.callbackUrl(connectionId, callbackSecret) };
  };

/** Changes settings and returns the connection. Rejects, in this order, with `not_found` and `invalid_connection`. */
export const changeProviderConnection =
  (needs: ManageConnectionsNeeds) =>
  async (
    id: ConnectionId,
    { privateKey, ...entered }: ConnectionChange,
    by: Changer,
  ): Promise<Connection | Rejection> => {
    const connection = await loadConnection(needs, id);
    if (isRejection(connection)) return connection;
    const change = withoutSlash(entered);
    const terms = { ...connection.terms, ...change };
    const stored = connection.privateKeyVersion;
    const isRemoved = terms.certificate === null && privateKey === undefined;
    const kept = stored === 0 || isRemoved ? null : await needs.connectionVault.find(id, 'privateKey', stored);
    const problem = needs.connectionRules.judge(terms, privateKey ?? kept);
    if (problem !== null) return refused(problem);
    const ofAccount = await accountProblem(needs, change);
    if (ofAccount !== null) return ofAccount;
    const isNew = privateKey !== undefined && privateKey !== kept;
    const newVersion = isNew ? await needs.connectionVault.keep(id, 'privateKey', privateKey) : null;
    const version = isRemoved ? 0 : newVersion;
    const done = await decide(needs, id, changeConnection(change, version, needs.accounts.realNow()), by);
    return isRejection(done) ? done : done.connection;
  };

/** Enables, drains or disables a connection and returns it (V5). Rejects with `not_found`. */
export const switchProviderConnection =
  (needs: DecideNeeds) =>
  async (id: ConnectionId, to: 'enabled' | 'draining' | 'disabled', by: Changer): Promise<Connection | Rejection> => {
    const done = await decide(needs, id, switchConnection(to, needs.accounts.realNow()), by);
    return isRejection(done) ? done : done.connection;
  };

/**
 * Returns what the connection still has to finish. Callbacks are counted first: what a handled one has written is in the log then, so the
 * read models show it. Throws ReadModelsBehind.
 */
const openWorkOf = async (needs: ManageConnectionsNeeds, id: ConnectionId): Promise<ConnectionWork> => {
  const callbacks = await needs.connections.unhandled(id);
  if (!(await isProcessed(needs, OPEN_WORK_READS, CAUGHT_UP_MS)))
    throw new ReadModelsBehind('the payments of a connection could not be counted');
  const { payments = 0, payouts = 0 } = (await needs.connections.openWork()).get(id) ?? {};
  return { payments, payouts, callbacks };
};

/**
 * Removes a connection and its secrets. An enabled one is drained first, so that no new payment can come in between. If a refund was
 * requested or a callback stored in between, the connection is restored. Completes a removal that was interrupted, but never undoes a
 * complete one: without its secrets, the connection could not finish anything. Rejects, in this order, with `not_found` and
 * `connection_in_use`, and leaves it drained then. Throws ReadModelsBehind.
 */
export const removeProviderConnection =
  (needs: ManageConnectionsNeeds) =>
  async (id: ConnectionId, by: Changer): Promise<'removed' | Rejection> => {
    const { commands, accounts, stopwatch, connectionVault: vault } = needs;
    const { state } = await commands.load(PROVIDER_CONNECTION, PROVIDER_CONNECTION.stream(id));
    if (state.status === 'removed' && (await vault.stored(id)).length === 0) return 'removed';
    if (state.status === 'enabled') {
      const drained = await decide(needs, id, switchConnection('draining', accounts.realNow()), by);
      if (isRejection(drained)) return drained;
      await stopwatch.pause(UNDER_WAY_MS);
    }
    const done = await decide(needs, id, removeConnection(await openWorkOf(needs, id), accounts.realNow()), by);
    if (isRejection(done)) return done;
    // From here on, refunds and callbacks are refused. After this time, a refund that another process accepted before has reserved its
    // money, and a callback is stored.
    await stopwatch.pause(UNDER_WAY_MS);
    const work = await openWorkOf(needs, id);
    if (hasWork(work)) {
      await decide(needs, id, restoreConnection(accounts.realNow()), by);
      return inUse(work);
    }
    await vault.forget(id);
    return 'removed';
  };

/** Stores a secret and makes it the current one. Repeats if another rotation was faster. Rejects as the decision does. */
const rotate = async (
  needs: ManageConnectionsNeeds,
  id: ConnectionId,
  kind: 'client' | 'callback',
  decision: typeof rotateClientSecret,
  secret: string,
  by: Changer,
): Promise<Connection | Rejection> => {
  const known = await loadConnection(needs, id);
  if (isRejection(known)) return known;
  for (let n = 0; n < ROTATIONS_MAX; n++) {
    const version = await needs.connectionVault.keep(id, kind, secret);
    const done = await decide(needs, id, decision(version, needs.accounts.realNow()), by);
    if (isRejection(done)) return done;
    if (done.reply === 'rotated') return done.connection;
  }
  throw new Error(`the ${kind} secret of connection ${id} could not be rotated: other rotations were faster`);
};

/**
 * Replaces the client secret. The one before it stays stored for processes that have not seen the change yet. Rejects, in this order, with
 * `invalid_connection` and `not_found`.
 */
export const rotateProviderClientSecret =
  (needs: ManageConnectionsNeeds) =>
  async (id: ConnectionId, clientSecret: string, by: Changer): Promise<Connection | Rejection> => {
    const problem = clientSecretProblem(clientSecret);
    if (problem !== null) return problem;
    const done = await rotate(needs, id, 'client', rotateClientSecret, clientSecret, by);
    if (!isRejection(done)) await needs.connectionVault.forgetBefore(id, 'client', done.clientSecretVersion - 1);
    return done;
  };

/**
 * Makes a new callback secret and returns the new callback URL. The previous URL works for 24 hours, or until the next rotation. `seenAt`:
 * the `changedAt` that the operator saw, so that a form sent twice rotates once; null for any. Rejects, in this order, with `not_found`
 * and, if the connection has changed since, `invalid_request`.
 */
export const rotateProviderCallbackSecret =
  (needs: ManageConnectionsNeeds) =>
  async (
    id: ConnectionId,
    by: Changer,
    seenAt: Timestamp | null = null,
  ): Promise<{ readonly callbackUrl: string; readonly previousUntil: Timestamp } | Rejection> => {
    const secret = newCallbackSecret(needs);
    const decision = (version: number, at: Timestamp) => rotateCallbackSecret(version, at, seenAt);
    const connection = await rotate(needs, id, 'callback', decision, secret, by);
    if (isRejection(connection)) return connection;
    // A rotation always leaves a previous secret.
    const { version, until } = connection.previousCallback as NonNullable<Connection['previousCallback']>;
    await needs.connectionVault.forgetBefore(id, 'callback', version);
    return { callbackUrl: needs.connectionTool.callbackUrl(id, secret), previousUntil: until };
  };
