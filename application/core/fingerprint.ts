// The fingerprint by which two requests under one idempotency key are compared (rule K2). The domain says which fields count; here they
// become a text, and the text a hash.
import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';

/**
 * Returns the fields as RFC 8785 writes them, under the version of the rule that chose them: equal texts are equal requests, whatever
 * their key order and whitespace. Fields that were not sent are undefined and left out. Throws on what no JSON holds: infinite numbers
 * and unpaired surrogates, which the edge refuses (rules I11, I14).
 */
export const canonicalText = (version: number, fields: object): string => `${version}\n${canonicalize(fields)}`;

/** Returns the SHA-256 of the canonical text, in base64url: 43 characters. */
export const fingerprintOf = (version: number, fields: object): string =>
  hash('sha256', canonicalText(version, fields), 'base64url');
