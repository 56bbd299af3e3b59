// Secrets that are shown once.
import { randomBytes } from 'node:crypto';
import type { Mode } from '../../domain/kernel/ids.ts';

/** `ak_<mode>_` and 24 bytes as base64url (contract.md Authentication). */
export const newApiKey = (mode: Mode): string => `ak_${mode}_${randomBytes(24).toString('base64url')}`;

/** 18 random bytes: 24 characters that can be typed. */
export const newPassword = (): string => randomBytes(18).toString('base64url');
