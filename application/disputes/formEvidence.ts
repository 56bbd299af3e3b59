// Evidence that comes in a form of the dashboard, by the same grants, limits and checks as an upload to a signed URL. A form doesn't
// declare the size of its files, so each is granted the largest size until it has arrived. All files arrive before the first one is
// checked. If the form is cut off, none of them is kept.
import { confirmOnce, findSameFile } from '../../domain/dispute/evidence.ts';
import { EVIDENCE_BYTES_MAX, FILE_TOO_LARGE, formFileRefusal } from '../../domain/dispute/evidenceFile.ts';
import type { Evidence } from '../../domain/dispute/medCase.ts';
import type { MedCaseId, Tenant } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { Actor } from '../core/eventMetadata.ts';
import { KeyedCount } from '../core/keyedCount.ts';
import type { EvidenceGrant } from '../ports/evidenceGrants.ts';
import type { StoredFile } from '../ports/evidenceStorage.ts';
import type { Randomness } from '../ports/system.ts';
import { type CompletionNeeds, completeUpload, grantUpload } from './evidence.ts';
import { ownCase } from './ownCase.ts';

export interface FormFile {
  readonly fileName: string;
  /** As the browser guesses it from the name. */
  readonly contentType: string;
  readonly chunks: AsyncIterable<Uint8Array>;
}

interface FormFileOutcome {
  readonly fileName: string;
  readonly outcome: Evidence | Rejection;
}

interface FormNeeds extends CompletionNeeds {
  readonly randomness: Randomness;
  readonly grantSeconds: number;
}

/** Forms of an account that a process reads at once. An S3 storage holds a file of each in memory. */
const FORMS_AT_ONCE = 4;
const BUSY = reject(
  'upload_limit_reached',
  `The account already sends files with ${FORMS_AT_ONCE} forms. Wait until one of them ends.`,
);

type Arrived = StoredFile & { readonly grant: EvidenceGrant };

const forget = async ({ evidence, grants }: FormNeeds, grant: EvidenceGrant): Promise<void> => {
  await evidence.remove(grant);
  await grants.forget(grant.evidenceId);
};

/** Stores a file under a grant of its own. Nothing of a refused or interrupted file is kept. */
const arrive = async (
  needs: FormNeeds,
  tenant: Tenant,
  caseId: MedCaseId,
  { fileName, contentType: mimeType, chunks }: FormFile,
): Promise<Arrived | Rejection> => {
  const refusal = formFileRefusal({ fileName, mimeType });
  if (refusal !== null) return refusal;
  const { evidence, grants } = needs;
  const granted = await grantUpload(needs)(tenant, caseId, { fileName, fileSize: EVIDENCE_BYTES_MAX, mimeType });
  if (isRejection(granted)) return granted;
  const { grant } = granted;
  const claim = await grants.beginUpload(grant.evidenceId);
  let stored: StoredFile | null = null;
  let isOpen = false;
  try {
    const { evidenceId, expiresAt } = grant;
    const upload = { ...tenant, evidenceId, contentType: mimeType, size: EVIDENCE_BYTES_MAX, expiresAt };
    stored = await evidence.take(upload, chunks);
  } finally {
    isOpen = claim !== null && claim !== 'busy' && (await claim.end());
    if (stored === null || stored.size === 0 || !isOpen) await forget(needs, grant);
  }
  if (stored === null || stored.size === 0 || !isOpen) return FILE_TOO_LARGE;
  await grants.setSize(grant.evidenceId, stored.size);
  return { ...stored, grant };
};

/** Confirms a file, unless the case has the same one under the same name: a form that is sent again, even at once, adds nothing. */
const confirm = async (
  needs: FormNeeds,
  complete: ReturnType<typeof completeUpload>,
  tenant: Tenant,
  { grant, sha256 }: Arrived,
  by: Actor,
): Promise<Evidence | Rejection> => {
  const { caseId, evidenceId, fileName } = grant;
  const outcome = await complete(tenant, caseId, evidenceId, by);
  if (!isRejection(outcome)) return outcome;
  await forget(needs, grant);
  // The other form may have added the last file that the case accepts.
  const own = await ownCase(needs.commands, tenant, caseId);
  return (isRejection(own) ? null : findSameFile(own, { fileName, sha256 })) ?? outcome;
};

/**
 * Adds the files of a form to a case and returns the outcome of each, in order. Rejections are those of `grantUpload` and `completeUpload`,
 * and `invalid_file_name`, `invalid_mime_type` and `invalid_file_size`. Throws the errors of the files; then none was added.
 */
export const uploadFromForm = (needs: FormNeeds) => {
  const complete = completeUpload(needs, confirmOnce);
  const forms = new KeyedCount();
  return async (
    tenant: Tenant,
    caseId: MedCaseId,
    files: AsyncIterable<FormFile>,
    by: Actor,
  ): Promise<readonly FormFileOutcome[] | Rejection> => {
    if (forms.of(tenant.accountId) >= FORMS_AT_ONCE) return BUSY;
    const leave = forms.add(tenant.accountId);
    const sent: { readonly fileName: string; readonly file: Arrived | Rejection }[] = [];
    try {
      for await (const file of files)
        sent.push({ fileName: file.fileName, file: await arrive(needs, tenant, caseId, file) });
    } catch (error) {
      await Promise.all(sent.map(({ file }) => (isRejection(file) ? null : forget(needs, file.grant))));
      throw error;
    } finally {
      leave();
    }
    const outcomes: FormFileOutcome[] = [];
    for (const { fileName, file } of sent)
      outcomes.push({ fileName, outcome: isRejection(file) ? file : await confirm(needs, complete, tenant, file, by) });
    return outcomes;
  };
};
