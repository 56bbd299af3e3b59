// The API keys of an account: one stream per account, so that a rotation is one append. Cleartext keys never come here.
import { type Decider, type Decision, ignore } from '../kernel/decider.ts';
import type { Fact } from '../kernel/event.ts';
import type { AccountId, KeyId, Mode } from '../kernel/ids.ts';
import { type Rejection, reject } from '../kernel/rejection.ts';
import { nullable, oneOf, record, type Serde, serdeOf, text, time } from '../kernel/serde.ts';
import type { Timestamp } from '../kernel/time.ts';

export interface ApiKey {
  readonly keyId: KeyId;
  readonly accountId: AccountId;
  readonly mode: Mode;
  /** SHA-256 of the cleartext, 64 hex characters. */
  readonly fingerprint: string;
  /** First 12 characters of the cleartext, for display. */
  readonly prefix: string;
  /** At most 64 characters. */
  readonly label: string | null;
  readonly issuedAt: Timestamp;
}

/** The key works from here on. The cleartext was shown once and is kept nowhere. */
export type ApiKeyIssued = Fact<'ApiKeyIssued', ApiKey>;
/** The key `replaced` works no more, and the new one of the same mode works: one event, so that there is no moment between. */
export type ApiKeyRotated = Fact<'ApiKeyRotated', { readonly replaced: KeyId; readonly key: ApiKey }>;
/** The key works no more. */
export type ApiKeyRevoked = Fact<'ApiKeyRevoked', { readonly keyId: KeyId; readonly at: Timestamp }>;
export type KeyringEvent = ApiKeyIssued | ApiKeyRotated | ApiKeyRevoked;

export interface KeyringState {
  /** Those that work, in the order of their issue. */
  readonly keys: readonly ApiKey[];
  /** Fingerprints of those that were rotated or revoked: they never work again. */
  readonly ended: readonly string[];
}

export const KEY_LABEL_LENGTH_MAX = 64;

const ending = ({ keys, ended }: KeyringState, keyId: KeyId): KeyringState => {
  const key = keys.find((one) => one.keyId === keyId);
  return key ? { keys: keys.filter((one) => one !== key), ended: [...ended, key.fingerprint] } : { keys, ended };
};

const evolve = (state: KeyringState, event: KeyringEvent): KeyringState => {
  switch (event.type) {
    case 'ApiKeyIssued':
      return { ...state, keys: [...state.keys, event.data] };
    case 'ApiKeyRotated': {
      const { keys, ended } = ending(state, event.data.replaced);
      return { keys: [...keys, event.data.key], ended };
    }
    case 'ApiKeyRevoked':
      return ending(state, event.data.keyId);
    default:
      return ignore(state, event);
  }
};

export const keyring: Decider<KeyringState, KeyringEvent> = { initial: { keys: [], ended: [] }, evolve };

const NO_KEY = reject('not_found', 'There is no such API key.');

/** Returns the key of this id; `not_found` when the account never had it, or it was rotated or revoked. */
export const findKey = ({ keys }: KeyringState, keyId: KeyId): ApiKey | Rejection =>
  keys.find((key) => key.keyId === keyId) ?? NO_KEY;

const labelProblem = (label: string | null): Rejection | null =>
  label === null || [...label].length <= KEY_LABEL_LENGTH_MAX
    ? null
    : reject('invalid_request', `label must be at most ${KEY_LABEL_LENGTH_MAX} characters.`, { param: 'label' });

/** The same cleartext issued twice is one key. null: that key was rotated or revoked, and stays so. */
export const issueKey =
  (key: ApiKey): Decision<KeyringState, KeyringEvent, ApiKey | null> =>
  ({ keys, ended }) => {
    const problem = labelProblem(key.label);
    if (problem) return problem;
    const same = keys.find((known) => known.fingerprint === key.fingerprint);
    if (same || ended.includes(key.fingerprint)) return { events: [], reply: same ?? null };
    return { events: [{ type: 'ApiKeyIssued', data: key }], reply: key };
  };

/** `label` undefined: the old key's. Its mode is the old key's too. Checks: the label, then that the old key works (`not_found`). */
export const rotateKey =
  (
    replaced: KeyId,
    fresh: Omit<ApiKey, 'label'>,
    label: string | undefined,
  ): Decision<KeyringState, KeyringEvent, ApiKey> =>
  (state) => {
    const problem = labelProblem(label ?? null);
    if (problem) return problem;
    const old = state.keys.find((key) => key.keyId === replaced);
    if (!old) return NO_KEY;
    if (old.mode !== fresh.mode)
      throw new Error(`key ${replaced} of ${old.mode} mode was to be rotated to ${fresh.mode}`);
    const key = { ...fresh, label: label ?? old.label };
    return { events: [{ type: 'ApiKeyRotated', data: { replaced, key } }], reply: key };
  };

/** A key that was rotated or revoked is there no more: `not_found`. */
export const revokeKey =
  (keyId: KeyId, at: Timestamp): Decision<KeyringState, KeyringEvent, 'revoked'> =>
  ({ keys }) =>
    keys.some((key) => key.keyId === keyId)
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

export const keyringSerde: Serde<KeyringEvent> = serdeOf<KeyringEvent>({
  ApiKeyIssued: { version: 1, shape: apiKey, personal: [] },
  ApiKeyRotated: { version: 1, shape: record({ replaced: text(), key: apiKey }), personal: [] },
  ApiKeyRevoked: { version: 1, shape: record({ keyId: text(), at: time }), personal: [] },
});
