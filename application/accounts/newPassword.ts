// Generates a password, which is shown once.
import type { Randomness } from '../ports/randomness.ts';

const RANDOM_BYTES = 18;

/** Returns 18 random bytes as 24 characters of base64url. */
export const newPassword = ({ bytes }: Pick<Randomness, 'bytes'>): string =>
  Buffer.from(bytes(RANDOM_BYTES)).toString('base64url');
