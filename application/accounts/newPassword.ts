// A password for somebody who chose none. It is shown once.
import type { Randomness } from '../ports/randomness.ts';

const RANDOM_BYTES = 18;

/** Returns 18 random bytes: 24 characters that can be typed. */
export const newPassword = ({ bytes }: Pick<Randomness, 'bytes'>): string =>
  Buffer.from(bytes(RANDOM_BYTES)).toString('base64url');
