// Secrets that are shown once.
import { randomBytes } from 'node:crypto';

/** 18 random bytes: 24 characters that can be typed. */
export const newPassword = (): string => randomBytes(18).toString('base64url');
