// Requests and responses of evidence in dispute cases (contract.md Dispute case, rule Q6).
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
      'No slash, backslash, control or direction character; neither `.` nor `..`. An extension must belong to `mime_type`.',
  }),
  file_size: integer(1, EVIDENCE_BYTES_MAX, 'The exact size, in bytes.'),
  mime_type: described('What the file is.', mimeType),
});

const evidenceId = described('`mev_` and the raw id.', id('mev_'));

export const uploadSchema = exactly({
  id: evidenceId,
  object: constant('med_case_evidence_upload'),
  upload_url: described('Where the file is sent, once. It is its own credential: no key is sent to it.', string()),
  upload_method: constant('PUT'),
  upload_headers: described(
    'Sent with the file, just so.',
    exactly({ 'Content-Type': string(), 'Content-Length': string() }),
  ),
  expires_in: described('Seconds for which the file may be sent and completed.', anyInteger),
});

export const evidenceSchema = exactly({
  id: evidenceId,
  object: constant('med_case_evidence'),
  file_name: string(),
  file_size: described('In bytes.', anyInteger),
  mime_type: mimeType,
  uploaded_by: oneOfTexts(['merchant', 'partner', 'platform'] as const),
  created_at: described('When the upload was granted.', timestamp),
  uploaded_at: described('When it was confirmed.', timestamp),
  view_url: described('Downloads the file; valid for five minutes.', string()),
});

export const evidenceListSchema = exactly({ object: constant('list'), data: listOf(evidenceSchema) });
