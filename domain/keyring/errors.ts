// The error codes of API keys.
import { codes } from '../kernel/rejection.ts';

export const KEY_ERRORS = codes(403, {
  API_KEY_ROLE_REQUIRED: 'Only an OWNER or ADMIN of the account can issue, rotate and revoke API keys.',
});

declare module '../kernel/rejection.ts' {
  interface ErrorCodes {
    readonly keyring: keyof typeof KEY_ERRORS;
  }
}
