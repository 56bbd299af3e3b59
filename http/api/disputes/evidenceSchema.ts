// Request and response schemas of evidence in dispute cases (contract.md Dispute case, rule Q6).
import { EVIDENCE_BYTES_MAX, EVIDENCE_TYPES, FILE_NAME_MAX } from '../../../domain/dispute/evidenceFile.ts';
import {
  accepting,
  anyInteger,
  constant,
  described,
  exactly,
  id,
  integer,
  listOf,
  oneOfTexts,
  string,
  timestamp,
} from '../../kernel/jsonSchema.ts';

const mimeType = oneOfTexts(EVIDENCE_TYPES);

export const grantBody = accepting({
  file_name: string(FILE_NAME_MAX, {
    minLength: 1,
    description:
      'Must not be `.` or `..`, or contain a slash, a backslash, a control or text-direction character. An extension must match `mime_type`.',
  }),
  file_size: integer(1, EVIDENCE_BYTES_MAX, 'The exact size of the file, in bytes.'),
  mime_type: described('The type of the file.', mimeType),
});

const evidenceId = described('`mev_` and the raw id.', id('mev_'));

export const uploadSchema = exactly({
  id: evidenceId,
  object: constant('med_case_evidence_upload'),
  upload_url: described('The URL to which you send the file once. The URL is signed; don’t send an API key.', string()),
  upload_method: constant('PUT'),
  upload_headers: described(
    'The headers to send with the file, unchanged.',
    exactly({ 'Content-Type': string(), 'Content-Length': string() }),
  ),
  expires_in: described('Seconds in which the file must be uploaded and confirmed.', anyInteger),
});

export const evidenceSchema = exactly({
  id: evidenceId,
  object: constant('med_case_evidence'),
  file_name: string(),
  file_size: described('The size in bytes.', anyInteger),
  mime_type: mimeType,
  uploaded_by: oneOfTexts(['merchant', 'partner', 'platform'] as const),
  created_at: described('When the upload was granted.', timestamp),
  uploaded_at: described('When the upload was confirmed.', timestamp),
  view_url: described('A URL that downloads the file. It is valid for five minutes.', string()),
});

export const evidenceListSchema = exactly({ object: constant('list'), data: listOf(evidenceSchema) });
