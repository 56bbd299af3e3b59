// The public view of evidence (contract.md Dispute case, rule Q6).

import type { DeclaredFile, EvidenceType } from '../dispute/evidenceFile.ts';
import type { Evidence } from '../dispute/medCase.ts';
import { PREFIX } from '../kernel/ids.ts';

export const evidenceView = (
  { evidenceId, fileName, fileSize, mimeType, uploadedBy, grantedAt, at }: Evidence,
  viewUrl: string,
) => ({
  id: PREFIX.evidence + evidenceId,
  object: 'med_case_evidence' as const,
  file_name: fileName,
  file_size: fileSize,
  mime_type: mimeType as EvidenceType,
  uploaded_by: uploadedBy,
  created_at: grantedAt,
  uploaded_at: at,
  view_url: viewUrl,
});

export const evidenceUploadView = (
  { evidenceId, fileSize, mimeType }: DeclaredFile & Pick<Evidence, 'evidenceId'>,
  url: string,
  expiresInSeconds: number,
) => ({
  id: PREFIX.evidence + evidenceId,
  object: 'med_case_evidence_upload' as const,
  upload_url: url,
  upload_method: 'PUT' as const,
  upload_headers: { 'Content-Type': mimeType, 'Content-Length': String(fileSize) },
  expires_in: expiresInSeconds,
});
