// What tells one request from another under the same idempotency key (rule K2), as it is recorded with what the request made.
import { integer, record, text } from './serde.ts';

export interface Fingerprint {
  /** Of the rule that says what of a request counts. */
  readonly version: number;
  readonly hash: string;
}
export const fingerprintShape = record<Fingerprint>({ version: integer, hash: text() });

/** A request whose hash can be computed under the rule of any version. */
export interface Fingerprinted {
  readonly fingerprintUnder: (version: number) => string;
  /** Of the rule of today. */
  readonly fingerprintVersion: number;
}

/** Returns the fingerprint that is recorded with what the request makes. */
export const newFingerprint = ({ fingerprintUnder, fingerprintVersion: version }: Fingerprinted): Fingerprint => ({
  version,
  hash: fingerprintUnder(version),
});

/** Returns whether the request is the recorded one, which is compared under the version of its own rule. */
export const isSameRequest = (
  { version, hash }: Fingerprint,
  { fingerprintUnder }: Pick<Fingerprinted, 'fingerprintUnder'>,
): boolean => fingerprintUnder(version) === hash;
