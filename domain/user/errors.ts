// The error codes of users.
import { codes } from '../kernel/rejection.ts';

export const SECOND_FACTOR_ERRORS = {
  ...codes(401, {
    second_factor_required: 'The password is correct, but the user has a second factor. Send a `code` from it, too.',
  }),
  ...codes(403, {
    second_factor_enrolment_required:
      'In production, operators must enrol a second factor first: `POST /v1/auth/totp/enroll`.',
  }),
};

declare module '../kernel/rejection.ts' {
  interface ErrorCodes {
    readonly user: keyof typeof SECOND_FACTOR_ERRORS;
  }
}
