// The API keys of an account: one stream per account, so that a rotation is one append. Cleartext keys are never stored here.

import { aggregate } from '../kernel/aggregate.ts';
import { type Decider, type Decision, type Fact, ignore } from '../kernel/decider.ts';
import { oneGroup } from '../kernel/eventGroups.ts';
import { EMPTY_ID_MAP, entryOf, type IdMap, valuesOf, withEntry, withoutEntry } from '../kernel/idMap.ts';
import type { AccountId, KeyId, Tenant } from '../kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../kernel/rejection.ts';
import { nullable, oneOf, record, type Serde, serdeOf, text, time } from '../kernel/serde.ts';
import type { Timestamp } from '../kernel/time.ts';
import { KEY_ERRORS } from './errors.ts';

export interface ApiKey extends Tenant {
  readonly keyId: KeyId;
  /** SHA-256 of the cleartext, 64 hex characters. */
  readonly fingerprint: string;
  /** First 12 characters of the cleartext, for display. */
  readonly prefix: string;
  /** At most 64 characters. */
  readonly label: string | null;
  readonly issuedAt: Timestamp;
}

/** A key was issued and works from now on. Its cleartext is shown once and never stored. */
export type ApiKeyIssued = Fact<'ApiKeyIssued', ApiKey>;
/** The key `replaced` was replaced by a new one of the same mode. A single event, so that exactly one of them works at any time. */
export type ApiKeyRotated = Fact<'ApiKeyRotated', { readonly replaced: KeyId; readonly key: ApiKey }>;
/** A key was revoked and stops working. */
export type ApiKeyRevoked = Fact<'ApiKeyRevoked', { readonly keyId: KeyId; readonly at: Timestamp }>;
export type KeyringEvent = ApiKeyIssued | ApiKeyRotated | ApiKeyRevoked;

interface WorkingKey {
  readonly key: ApiKey;
  /** Index among all keys of the account, ended ones included, from 0. */
  readonly nth: number;
}

interface KeyringState {
  /** By key id. */
  readonly working: IdMap<WorkingKey>;
  /** Ids of rotated and revoked keys, which never work again. */
  readonly ended: IdMap<true>;
  /** Number of keys ever issued. */
  readonly issued: number;
}

export const KEY_LABEL_LENGTH_MAX = 64;

const issuing = ({ working, ended, issued }: KeyringState, key: ApiKey): KeyringState => ({
  working: withEntry(working, key.keyId, { key, nth: issued }),
  ended,
  issued: issued + 1,
});

const ending = (state: KeyringState, keyId: KeyId): KeyringState =>
  entryOf(state.working, keyId)
    ? { ...state, working: withoutEntry(state.working, keyId), ended: withEntry(state.ended, keyId, true) }
    : state;

const evolve = (state: KeyringState, event: KeyringEvent): KeyringState => {
  switch (event.type) {
    case 'ApiKeyIssued':
      return issuing(state, event.data);
    case 'ApiKeyRotated':
      return issuing(ending(state, event.data.replaced), event.data.key);
    case 'ApiKeyRevoked':
      return ending(state, event.data.keyId);
    default:
      return ignore(state, event);
  }
};

export const keyring: Decider<KeyringState, KeyringEvent> = {
  initial: { working: EMPTY_ID_MAP, ended: EMPTY_ID_MAP, issued: 0 },
  evolve,
};

/** Returns the working keys in order of issue. */
export const workingKeys = ({ working }: KeyringState): readonly ApiKey[] =>
  [...valuesOf(working)].sort((a, b) => a.nth - b.nth).map(({ key }) => key);

const NO_KEY = reject('not_found', 'There is no such API key.');

/** Returns the working key of this id. Rejects with `not_found` if the key is unknown, rotated or revoked. */
export const findKey = ({ working }: KeyringState, keyId: KeyId): ApiKey | Rejection =>
  entryOf(working, keyId)?.key ?? NO_KEY;

const labelProblem = (label: string | null): Rejection | null =>
  label === null || [...label].length <= KEY_LABEL_LENGTH_MAX
    ? null
    : reject('invalid_request', `label must be at most ${KEY_LABEL_LENGTH_MAX} characters.`, { param: 'label' });

/** Issues a key. No-op for the same id, which derives from the cleartext or a form. Replies null if that key was rotated or revoked. */
export const issueKey =
  (key: ApiKey): Decision<KeyringState, KeyringEvent, ApiKey | null> =>
  ({ working, ended }) => {
    const problem = labelProblem(key.label);
    if (problem) return problem;
    const same = entryOf(working, key.keyId)?.key;
    if (same || entryOf(ended, key.keyId)) return { events: [], reply: same ?? null };
    return { events: [{ type: 'ApiKeyIssued', data: key }], reply: key };
  };

/** Rotates a key. The mode, and the label if undefined, stay the same. Checks the label, then that the old key works (`not_found`). */
export const rotateKey =
  (
    replaced: KeyId,
    fresh: Omit<ApiKey, 'label'>,
    label: string | undefined,
  ): Decision<KeyringState, KeyringEvent, ApiKey> =>
  (state) => {
    const problem = labelProblem(label ?? null);
    if (problem) return problem;
    const old = findKey(state, replaced);
    if (isRejection(old)) return old;
    if (old.mode !== fresh.mode)
      throw new Error(`key ${replaced} of ${old.mode} mode was to be rotated to ${fresh.mode}`);
    const key = { ...fresh, label: label ?? old.label };
    return { events: [{ type: 'ApiKeyRotated', data: { replaced, key } }], reply: key };
  };

/** Revokes a key. Rejects a key that doesn't work with `not_found`. */
export const revokeKey =
  (keyId: KeyId, at: Timestamp): Decision<KeyringState, KeyringEvent, 'revoked'> =>
  (state) =>
    entryOf(state.working, keyId)
      ? { events: [{ type: 'ApiKeyRevoked', data: { keyId, at } }], reply: 'revoked' }
      : NO_KEY;

const apiKey = record<ApiKey>({
  keyId: text(),
  accountId: text(),
  mode: oneOf('test', 'live'),
  fingerprint: text(),
  prefix: text(),
  label: nullable(text()),
  issuedAt: time,
});

const keyringSerde: Serde<KeyringEvent> = serdeOf<KeyringEvent>({
  ApiKeyIssued: { version: 1, shape: apiKey, personal: [] },
  ApiKeyRotated: { version: 1, shape: record({ replaced: text(), key: apiKey }), personal: [] },
  ApiKeyRevoked: { version: 1, shape: record({ keyId: text(), at: time }), personal: [] },
});

export const KEYRING = aggregate<AccountId>()({
  category: 'keyring',
  changesMax: 5_000,
  idPrefix: null,
  decider: keyring,
  serde: keyringSerde,
  errors: KEY_ERRORS,
  groups: oneGroup(keyringSerde),
  isRare: true,
});
