// The API keys of an account: one stream per account, so that a later rotation is atomic. Cleartext keys never come here.
import type { Decider, Decision } from '../kernel/decider.ts';
import type { Fact } from '../kernel/event.ts';
import type { AccountId, KeyId, Mode } from '../kernel/ids.ts';
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
  readonly label: string | null;
  readonly issuedAt: Timestamp;
}

/** The key works from here on. The cleartext was shown once and is kept nowhere. */
export type ApiKeyIssued = Fact<'ApiKeyIssued', ApiKey>;
export type KeyringEvent = ApiKeyIssued;

export interface KeyringState {
  readonly keys: readonly ApiKey[];
}

export const keyring: Decider<KeyringState, KeyringEvent> = {
  initial: { keys: [] },
  evolve: (state, event) => (event.type === 'ApiKeyIssued' ? { keys: [...state.keys, event.data] } : state),
};

/** The same cleartext issued twice is one key. */
export const issueKey =
  (key: ApiKey): Decision<KeyringState, KeyringEvent, ApiKey> =>
  ({ keys }) => {
    const same = keys.find((known) => known.fingerprint === key.fingerprint);
    return same ? { events: [], reply: same } : { events: [{ type: 'ApiKeyIssued', data: key }], reply: key };
  };

export const keyringSerde: Serde<KeyringEvent> = serdeOf<KeyringEvent>({
  ApiKeyIssued: {
    version: 1,
    shape: record<ApiKey>({
      keyId: text(),
      accountId: text(),
      mode: oneOf('test', 'live'),
      fingerprint: text(),
      prefix: text(),
      label: nullable(text()),
      issuedAt: time,
    }),
    personal: [],
  },
});
