// Creates API keys: the cleartext, shown once, and the record stored for it (contract.md Authentication).
import { hash } from 'node:crypto';
import { type AccountId, idIn, type KeyId, type Mode } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { ApiKey } from '../../domain/keyring/keyring.ts';
import type { Randomness } from '../ports/randomness.ts';

const PREFIX_LENGTH = 12;
const RANDOM_BYTES = 24;

/** Returns the SHA-256 of the cleartext, 64 hex characters. */
export const keyFingerprint = (cleartext: string): string => hash('sha256', cleartext, 'hex');

/** Returns the part of a fingerprint that is shown: its first 16 hex characters. */
export const shownFingerprint = (fingerprint: string): string => fingerprint.slice(0, 16);

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
