// Chance as the operating system gives it.
import { randomBytes } from 'node:crypto';
import type { Randomness } from '../../application/ports/randomness.ts';

export const systemRandomness: Randomness = { bytes: (size) => randomBytes(size), fraction: Math.random };
