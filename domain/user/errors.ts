// The error codes of users.
import { codes } from '../kernel/rejection.ts';

export const SECOND_FACTOR_ERRORS = {
  ...codes(401, {
    second_factor_required: 'The password is correct, but the user has a second factor. Send its `code`, too.',
  }),
  ...codes(403, {
    second_factor_enrolment_required:
      'In production, an operator must first enrol a second factor with `POST /v1/auth/totp/enroll`.',
  }),
};

declare module '../kernel/rejection.ts' {
  interface ErrorCodes {
    readonly user: keyof typeof SECOND_FACTOR_ERRORS;
  }
}
