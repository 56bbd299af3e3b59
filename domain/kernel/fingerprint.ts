// Request fingerprints, which tell apart requests with the same idempotency key (rule K2). Stored with the result of the request.
import { integer, record, text } from './serde.ts';

export interface Fingerprint {
  /** Version of the rule that decides which parts of a request count. */
  readonly version: number;
  readonly hash: string;
}
export const fingerprintShape = record<Fingerprint>({ version: integer, hash: text() });

/** A request whose hash can be computed under any rule version. */
export interface Fingerprinted {
  readonly fingerprintUnder: (version: number) => string;
  /** The current rule version. */
  readonly fingerprintVersion: number;
}

/** Returns the fingerprint to store with the result of the request. */
export const newFingerprint = ({ fingerprintUnder, fingerprintVersion: version }: Fingerprinted): Fingerprint => ({
  version,
  hash: fingerprintUnder(version),
});

/** Returns whether the request equals the recorded one, compared under the recorded rule version. */
export const isSameRequest = (
  { version, hash }: Fingerprint,
  { fingerprintUnder }: Pick<Fingerprinted, 'fingerprintUnder'>,
): boolean => fingerprintUnder(version) === hash;
