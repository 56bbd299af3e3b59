// Issues, rotates, revokes and lists API keys (contract.md API key management). A new key works in every process when the call returns;
// an ended key works in none.

import { ACCOUNT, NO_ACCOUNT } from '../../domain/account/account.ts';
import { type AccountId, idIn, type KeyId, type Mode } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, SECRET_MADE_BEFORE } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import {
  type ApiKey,
  findKey,
  issueKey,
  KEYRING,
  revokeKey,
  rotateKey,
  workingKeys,
} from '../../domain/keyring/keyring.ts';
import { createdIdOf } from '../core/derivedIds.ts';
import { type Changer, metadataForChange } from '../core/eventMetadata.ts';
import { pollUntil } from '../core/quiescence.ts';
import { limitsOf, type UseCaseNeeds } from '../core/useCase.ts';
import type { AccessLeases } from '../ports/accessLeases.ts';
import type { EventMetadata } from '../ports/loggedEvent.ts';
import type { Progress } from '../ports/readModels/progress.ts';
import type { KeyViews, KnownKey } from '../ports/readModels/views.ts';
import type { Randomness, Stopwatch } from '../ports/system.ts';
import { keyFingerprint } from './apiKeys.ts';

// --- A new key: the cleartext, shown once, and the record stored for it (contract.md Authentication) ---

const PREFIX_LENGTH = 12;
const RANDOM_BYTES = 24;

/** Returns `ak_<mode>_` and 24 random bytes as base64url. */
export const newApiKey = (mode: Mode, { bytes }: Pick<Randomness, 'bytes'>): string =>
  `ak_${mode}_${Buffer.from(bytes(RANDOM_BYTES)).toString('base64url')}`;

/** Returns the record stored for a key, never the key itself. The id derives from the fingerprint, so a repeat yields the same key. */
export const keyOf = (
  cleartext: string,
  { accountId, mode, at }: { readonly accountId: AccountId; readonly mode: Mode; readonly at: Timestamp },
): Omit<ApiKey, 'label'> => {
  const fingerprint = keyFingerprint(cleartext);
  const keyId = idIn<KeyId>(accountId, Buffer.from(fingerprint, 'hex').subarray(0, 16));
  return { keyId, accountId, mode, fingerprint, prefix: cleartext.slice(0, PREFIX_LENGTH), issuedAt: at };
};

export interface KeyNeeds extends UseCaseNeeds {
  readonly randomness: Pick<Randomness, 'bytes'>;
  readonly leases: AccessLeases;
  /** Waits until the read model has the key, at most one second. A later lookup waits for it, too. */
  readonly whenFound: (fingerprint: KnownKey['fingerprint']) => Promise<unknown>;
}

/** Equal to the time that a lookup waits for the read model. */
const FOUND_MS = 1_000;

export const whenKeyFound =
  (needs: {
    readonly stopwatch: Stopwatch;
    readonly projected: Pick<Progress, 'onMove'>;
    readonly views: { readonly keys: KeyViews };
  }): KeyNeeds['whenFound'] =>
  (fingerprint) => {
    const { stopwatch, projected, views } = needs;
    const onMove = (listener: () => void) => projected.onMove(listener);
    return pollUntil({ stopwatch, onMove }, FOUND_MS, () => views.keys.find(fingerprint));
  };

/** A new key. The cleartext is shown once and not stored. */
export interface NewKey {
  readonly key: ApiKey;
  readonly cleartext: string;
}

const metadataOf = (by: Changer, accountId: AccountId, mode: Mode, root: KeyId): EventMetadata => ({
  ...metadataForChange(by, accountId, root),
  mode,
});

/**
 * Issues a key. `form`: names the form, which issues one key. Rejects with `not_found` if the account does not exist, and with
 * `invalid_request` if the label is too long or the form was sent before.
 */
export const issueApiKey =
  ({ commands, accounts, randomness, whenFound }: KeyNeeds) =>
  async (
    accountId: AccountId,
    { mode, label }: { readonly mode: Mode; readonly label: string | null },
    by: Changer,
    form: string | null = null,
  ): Promise<NewKey | Rejection> => {
    const { state } = await commands.load(ACCOUNT, ACCOUNT.stream(accountId));
    if (state.status !== 'open') return NO_ACCOUNT;
    const cleartext = newApiKey(mode, randomness);
    const fresh = keyOf(cleartext, { accountId, mode, at: accounts.realNow() });
    const keyId = form === null ? fresh.keyId : createdIdOf<KeyId>(state, mode, 'keys.issue', form);
    const key = { ...fresh, keyId, label };
    const metadata = metadataOf(by, accountId, mode, key.keyId);
    const done = await commands.execute(KEYRING, KEYRING.stream(accountId), issueKey(key), metadata, limitsOf(by));
    if (isRejection(done)) return done;
    if (done.appended === 0) return SECRET_MADE_BEFORE;
    await whenFound(key.fingerprint);
    return { key, cleartext };
  };

/** Replaces a key with a new one of the same mode. Without `label` it keeps its label. Rejects with `not_found` if no such key works. */
export const rotateApiKey =
  ({ commands, accounts, randomness, leases, whenFound }: KeyNeeds) =>
  async (accountId: AccountId, keyId: KeyId, label: string | undefined, by: Changer): Promise<NewKey | Rejection> => {
    const stream = KEYRING.stream(accountId);
    const old = findKey((await commands.load(KEYRING, stream)).state, keyId);
    if (isRejection(old)) return ended(leases, accountId, old);
    const { mode } = old;
    const cleartext = newApiKey(mode, randomness);
    const fresh = keyOf(cleartext, { accountId, mode, at: accounts.realNow() });
    const metadata = metadataOf(by, accountId, mode, keyId);
    const done = await commands.execute(KEYRING, stream, rotateKey(keyId, fresh, label), metadata, limitsOf(by));
    if (isRejection(done)) return ended(leases, accountId, done);
    await Promise.all([leases.announce(accountId), whenFound(fresh.fingerprint)]);
    return { key: done.reply, cleartext };
  };

/** Revokes a key. Rejects with `not_found` if the account has no such working key. */
export const revokeApiKey =
  ({ commands, accounts, leases }: Pick<KeyNeeds, 'commands' | 'accounts' | 'leases'>) =>
  async (accountId: AccountId, keyId: KeyId, by: Changer): Promise<ApiKey | Rejection> => {
    const stream = KEYRING.stream(accountId);
    const old = findKey((await commands.load(KEYRING, stream)).state, keyId);
    if (isRejection(old)) return ended(leases, accountId, old);
    const metadata = metadataOf(by, accountId, old.mode, keyId);
    const done = await commands.execute(KEYRING, stream, revokeKey(keyId, accounts.realNow()), metadata);
    if (isRejection(done)) return ended(leases, accountId, done);
    await leases.announce(accountId);
    return old;
  };

/** Announces the account after `not_found`, too: an earlier request may have ended the key and crashed before its announcement. */
const ended = async (leases: AccessLeases, accountId: AccountId, refused: Rejection): Promise<Rejection> => {
  if (refused.code === 'not_found') await leases.announce(accountId);
  return refused;
};

/** Returns the account's working keys, oldest first. */
export const listApiKeys =
  ({ commands }: Pick<KeyNeeds, 'commands'>) =>
  async (accountId: AccountId): Promise<readonly ApiKey[]> =>
    workingKeys((await commands.load(KEYRING, KEYRING.stream(accountId))).state);
