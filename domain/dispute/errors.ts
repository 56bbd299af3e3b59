// The error codes of dispute cases and their evidence.
import { codes } from '../kernel/rejection.ts';

export const DISPUTE_ERRORS = {
  ...codes(400, {
    invalid_file_name:
      '`file_name` does not have 1 to 255 characters, contains a slash, backslash, control or text-direction character, is `.` or `..`, or its extension doesn’t match `mime_type`.',
    invalid_file_size: '`file_size` is not an integer from 1 to 10,485,760 bytes.',
    invalid_mime_type: '`mime_type` is not image/png, image/jpeg, image/webp, image/gif or application/pdf.',
    invalid_evidence:
      'The uploaded file is not of its declared type, is damaged, exceeds 50 megapixels, combines several files, or is a PDF with JavaScript or launch actions. Request a new upload.',
    evidence_limit_reached: 'The case already has 20 confirmed files.',
    case_not_open: 'The dispute case is no longer open, or it has no outcome to review.',
    case_under_review:
      'An outcome of the dispute case is under review. Nothing else can end the case until the review is done.',
    invalid_reason: 'The reason for the appeal is blank, or does not have 5 to 2,000 characters.',
  }),
  ...codes(403, {
    invalid_signature: 'The signed URL is not valid for this request, was already used, or has expired.',
  }),
  ...codes(409, {
    EVIDENCE_NOT_UPLOADED: 'The file was not uploaded, or its upload URL has expired. Request a new upload.',
    EVIDENCE_SIZE_MISMATCH: 'The uploaded file’s size differs from the declared size.',
    upload_in_progress: 'Another request is sending a file to the same upload URL. Wait until it ends.',
  }),
  ...codes(408, {
    upload_too_slow: 'The upload was slower than 10 kB/s after its first 10 seconds. Its URL stays valid.',
  }),
  ...codes(429, {
    upload_limit_reached:
      'The case has 20 open uploads, or the account has 200 MB of unconfirmed files in this mode. Wait for the time in `Retry-After`.',
  }),
};

declare module '../kernel/rejection.ts' {
  interface ErrorCodes {
    readonly dispute: keyof typeof DISPUTE_ERRORS;
  }
}
