// The error codes of dispute cases and their evidence.
import { codes } from '../kernel/rejection.ts';

export const DISPUTE_ERRORS = {
  ...codes(400, {
    invalid_file_name:
      '`file_name` must have 1 to 255 characters without slashes, backslashes, control or direction characters. It must not be `.` or `..`, and its extension must fit `mime_type`.',
    invalid_file_size: '`file_size` must be an integer from 1 to 10,485,760 bytes.',
    invalid_mime_type: '`mime_type` must be image/png, image/jpeg, image/webp, image/gif or application/pdf.',
    invalid_evidence:
      'The uploaded file has another type than declared, is damaged, exceeds 50 megapixels, combines several files, or is a PDF with JavaScript or launch actions. Request a new grant.',
    evidence_limit_reached: 'The case has 20 confirmed files.',
    case_not_open: 'The dispute case is not open, or has no outcome to review.',
    case_under_review:
      'An outcome of the dispute case is under review; nothing else can end the case until the review is done.',
    invalid_reason: 'The reason of the appeal has fewer than 5 or more than 2,000 characters, or is blank.',
  }),
  ...codes(403, {
    invalid_signature: 'The signed URL does not match this request, was already used, or has expired.',
  }),
  ...codes(409, {
    EVIDENCE_NOT_UPLOADED: 'The file was not uploaded, or its upload URL has expired. Request a new grant.',
    EVIDENCE_SIZE_MISMATCH: 'The uploaded file’s size differs from the declared size.',
    upload_in_progress: 'Another request is uploading to the same URL. Wait until it ends.',
  }),
  ...codes(408, {
    upload_too_slow: 'The upload was slower than 10 kB/s after its first 10 seconds. The URL remains valid.',
  }),
  ...codes(429, {
    upload_limit_reached:
      'The case has 20 open uploads, or the account has 200 MB of unconfirmed files in this mode. Retry after `Retry-After`.',
  }),
};

declare module '../kernel/rejection.ts' {
  interface ErrorCodes {
    readonly dispute: keyof typeof DISPUTE_ERRORS;
  }
}
