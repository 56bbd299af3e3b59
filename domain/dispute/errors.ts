// The error codes of dispute cases and their evidence.
import { codes } from '../kernel/rejection.ts';

export const DISPUTE_ERRORS = {
  ...codes(400, {
    invalid_file_name:
      '`file_name` is not 1 to 255 characters, contains a slash, a backslash, a control or a direction character, is `.` or `..`, or has an extension of another type than `mime_type`.',
    invalid_file_size: '`file_size` is not an integer from 1 to 10,485,760 bytes.',
    invalid_mime_type: '`mime_type` is none of image/png, image/jpeg, image/webp, image/gif and application/pdf.',
    invalid_evidence:
      'The uploaded file is not of its declared type, damaged, above 50 megapixels, several files in one, or a PDF with JavaScript or launch actions. Request a new grant.',
    evidence_limit_reached: 'The case has 20 confirmed files.',
    case_not_open: 'The dispute case has ended, is not open any more, or has no outcome to be reviewed.',
    case_under_review: 'An outcome of the dispute case is being reviewed: nothing else can end it meanwhile.',
    invalid_reason: 'The reason of the appeal has fewer than 5 or more than 2,000 characters, or is blank.',
  }),
  ...codes(403, {
    invalid_signature: 'The signed URL is not for this request, was used already, or has expired.',
  }),
  ...codes(409, {
    EVIDENCE_NOT_UPLOADED: 'The file has not arrived, or its upload URL has expired: request a new grant.',
    EVIDENCE_SIZE_MISMATCH: 'The stored file has not the declared size.',
    upload_in_progress: 'Another request sends a file to the same upload URL. Wait until it ends.',
  }),
  ...codes(408, {
    upload_too_slow: 'The upload was slower than 10 kB/s after its first 10 seconds. Its URL stays valid.',
  }),
  ...codes(429, {
    upload_limit_reached:
      'The case has 20 open uploads, or the account 200 MB of unconfirmed files in this mode; `Retry-After` says when to try again.',
  }),
};

declare module '../kernel/rejection.ts' {
  interface ErrorCodes {
    readonly dispute: keyof typeof DISPUTE_ERRORS;
  }
}
