// Request and response schemas of evidence in dispute cases (contract.md Dispute case, rule Q6).
import { EVIDENCE_BYTES_MAX, EVIDENCE_TYPES, FILE_NAME_MAX } from '../../../domain/dispute/evidenceFile.ts';
import * as s from '../../kernel/jsonSchema.ts';

const mimeType = s.oneOfTexts(EVIDENCE_TYPES);

export const grantBody = s.accepting({
  file_name: s.string(FILE_NAME_MAX, {
    minLength: 1,
    description:
      'Must not be `.` or `..`, or contain a slash, a backslash, a control or text-direction character. An extension must match `mime_type`.',
  }),
  file_size: s.integer(1, EVIDENCE_BYTES_MAX, 'The exact size of the file, in bytes.'),
  mime_type: s.described('The type of the file.', mimeType),
});

const evidenceId = s.described('`mev_` and the raw id.', s.id('mev_'));

export const uploadSchema = s.exactly({
  id: evidenceId,
  object: s.constant('med_case_evidence_upload'),
  upload_url: s.described(
    'The URL to which you send the file once. The URL is signed; don’t send an API key.',
    s.string(),
  ),
  upload_method: s.constant('PUT'),
  upload_headers: s.described(
    'The headers to send with the file, unchanged.',
    s.exactly({ 'Content-Type': s.string(), 'Content-Length': s.string() }),
  ),
  expires_in: s.described('Seconds in which the file must be uploaded and confirmed.', s.anyInteger),
});

export const evidenceSchema = s.exactly({
  id: evidenceId,
  object: s.constant('med_case_evidence'),
  file_name: s.string(),
  file_size: s.described('The size in bytes.', s.anyInteger),
  mime_type: mimeType,
  uploaded_by: s.oneOfTexts(['merchant', 'partner', 'platform'] as const),
  created_at: s.described('When the upload was granted.', s.timestamp),
  uploaded_at: s.described('When the upload was confirmed.', s.timestamp),
  view_url: s.described('A URL that downloads the file. It is valid for five minutes.', s.string()),
});

export const evidenceListSchema = s.exactly({ object: s.constant('list'), data: s.listOf(evidenceSchema) });
