// The files that a merchant adds to a case: granted, sent to the storage, confirmed once they were looked at, and shown by links (rule Q6).
import { hash } from 'node:crypto';
import {
  confirmEvidence,
  type Evidence,
  type EvidenceGrant,
  findEvidence,
  findGrant,
  grantEvidence,
} from '../../domain/dispute/evidence.ts';
import { type DeclaredFile, NO_EVIDENCE, NOT_UPLOADED, sizeMismatch } from '../../domain/dispute/evidenceFile.ts';
import type { MedCase } from '../../domain/dispute/medCase.ts';
import { streamName } from '../../domain/kernel/event.ts';
import { type EvidenceId, encodeRawId, type MedCaseId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { addSeconds } from '../../domain/kernel/time.ts';
import type { Accounts } from '../core/accounts.ts';
import { MED_CASE } from '../core/aggregates.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { type Actor, metadataForRequest } from '../core/eventMetadata.ts';
import type { EvidenceLinks, EvidenceReceiver, EvidenceStorage, SentEvidence } from '../ports/evidenceStorage.ts';
import type { Tenant } from '../ports/paymentProvider.ts';
import type { Randomness } from '../ports/randomness.ts';
import { ownCase } from './ownCase.ts';

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly evidence: EvidenceStorage;
}

export interface UploadGrant {
  readonly grant: EvidenceGrant;
  readonly url: string;
  readonly expiresInSeconds: number;
}

/**
 * Grants one upload. Rejections: `not_found`, `case_not_open`, `evidence_limit_reached`. Throws EvidenceStorageUnavailable, and then
 * nothing was granted.
 */
export const grantUpload =
  (needs: Needs & { readonly randomness: Randomness; readonly grantSeconds: number }) =>
  async (tenant: Tenant, caseId: MedCaseId, file: DeclaredFile, by: Actor): Promise<UploadGrant | Rejection> => {
    const { commands, accounts, evidence, randomness, grantSeconds } = needs;
    const own = await ownCase(commands, tenant, caseId);
    if (isRejection(own)) return own;
    const { accountId, mode } = tenant;
    const at = await accounts.now(accountId, mode);
    const evidenceId = encodeRawId(randomness.bytes(16)) as EvidenceId;
    const { fileName, fileSize, mimeType } = file;
    const expiresAt = addSeconds(at, grantSeconds);
    const grant = { evidenceId, fileName, fileSize, mimeType, uploadedBy: 'merchant' as const, expiresAt, at };
    const decide = grantEvidence(grant);
    // Storage is asked before anything is recorded, and only for what would be.
    const judged = decide(own);
    if (isRejection(judged)) return judged;
    const upload = { accountId, mode, evidenceId, contentType: mimeType, size: fileSize, expiresAt };
    const url = await evidence.uploadUrl(upload, grantSeconds);
    const metadata = metadataForRequest(by, tenant, own.terms.paymentId);
    const done = await commands.execute(MED_CASE, streamName.medCase(caseId), decide, metadata);
    return isRejection(done) ? done : { grant, url, expiresInSeconds: grantSeconds };
  };

/** Takes what is sent to an upload URL. `invalid_signature`: the URL is not for this, used up, or expired. null: it is stored. */
export const receiveEvidence =
  ({ receiver }: { readonly receiver: EvidenceReceiver }) =>
  async (sent: SentEvidence): Promise<{ readonly sha256: string } | Rejection> => {
    const sha256 = await receiver.receive(sent);
    return sha256 === null ? BAD_SIGNATURE : { sha256 };
  };

const BAD_SIGNATURE = reject(
  'invalid_signature',
  'This URL is not for this request, was used already, or has expired.',
);

/** Returns why the bytes are no file of the type, or several; null: they are one. */
export type JudgeEvidence = (bytes: Buffer, contentType: string) => Promise<Rejection | null>;

/**
 * Confirms a file that arrived, which from then on belongs to the case. Confirmed before: the same evidence. Order of the checks: the case
 * and the evidence (`not_found`), confirmed before, the case again (`case_not_open`, `evidence_limit_reached`), then
 * `EVIDENCE_NOT_UPLOADED`, `EVIDENCE_SIZE_MISMATCH`, `invalid_evidence`. Throws EvidenceStorageUnavailable.
 */
export const completeUpload =
  (needs: Needs & { readonly judgeEvidence: JudgeEvidence }) =>
  async (tenant: Tenant, caseId: MedCaseId, evidenceId: EvidenceId, by: Actor): Promise<Evidence | Rejection> => {
    const { commands, accounts } = needs;
    const own = await ownCase(commands, tenant, caseId);
    if (isRejection(own)) return own;
    const before = findEvidence(own, evidenceId);
    if (before !== null) return before;
    const grant = findGrant(own, evidenceId);
    if (grant === null) return NO_EVIDENCE;
    const at = await accounts.now(tenant.accountId, tenant.mode);
    const confirm = (sha256: string) => {
      const { expiresAt: _, at: grantedAt, ...file } = grant;
      return confirmEvidence({ ...file, sha256, grantedAt, at });
    };
    const judged = confirm('')(own);
    if (isRejection(judged)) return judged;
    const sha256 = at < grant.expiresAt ? await whatArrived(needs, tenant, grant) : NOT_UPLOADED;
    if (isRejection(sha256)) return sha256;
    const metadata = metadataForRequest(by, tenant, own.terms.paymentId);
    const done = await commands.execute(MED_CASE, streamName.medCase(caseId), confirm(sha256), metadata);
    return isRejection(done) ? done : done.reply;
  };

/** Returns the SHA-256 of the granted file. */
const whatArrived = async (
  { evidence, judgeEvidence }: Pick<Needs, 'evidence'> & { readonly judgeEvidence: JudgeEvidence },
  tenant: Tenant,
  { evidenceId, fileSize, mimeType }: EvidenceGrant,
): Promise<string | Rejection> => {
  const bytes = await evidence.read({ ...tenant, evidenceId });
  if (bytes === null) return NOT_UPLOADED;
  if (bytes.length !== fileSize) return sizeMismatch(fileSize, bytes.length);
  return (await judgeEvidence(bytes, mimeType)) ?? hash('sha256', bytes, 'hex');
};

/** Returns a new link to a confirmed file, good for a few minutes. */
export const evidenceUrl =
  ({ links, viewSeconds }: { readonly links: EvidenceLinks; readonly viewSeconds: number }) =>
  ({ accountId, mode }: Tenant, { evidenceId, fileName, fileSize, mimeType, sha256 }: Evidence): Promise<string> => {
    const view = { accountId, mode, evidenceId, fileName, size: fileSize, contentType: mimeType, sha256 };
    return links.urlFor('GET', view, viewSeconds);
  };

/** The confirmed files of a case, newest first, by the time of their grants. */
export const evidenceOf = ({ evidence }: MedCase): readonly Evidence[] =>
  evidence.toSorted((a, b) =>
    a.grantedAt === b.grantedAt ? (a.evidenceId < b.evidenceId ? 1 : -1) : a.grantedAt < b.grantedAt ? 1 : -1,
  );

export interface ShownEvidence {
  readonly fileName: string;
  readonly contentType: string;
  readonly bytes: Buffer;
}

/**
 * Returns the file that a link is to. `invalid_signature`: the link is none, or has expired; `not_found`: the file is gone;
 * `EVIDENCE_SIZE_MISMATCH`: it is not the one that was confirmed, because the storage was damaged.
 */
export const showEvidence =
  ({ links, evidence }: { readonly links: EvidenceLinks; readonly evidence: EvidenceStorage }) =>
  async (evidenceId: EvidenceId, token: string): Promise<ShownEvidence | Rejection> => {
    const view = await links.read('GET', evidenceId, token);
    if (view === null) return BAD_SIGNATURE;
    const { fileName, contentType, size, sha256 } = view;
    const bytes = await evidence.read(view);
    if (bytes === null) return NO_EVIDENCE;
    if (bytes.length !== size || hash('sha256', bytes, 'hex') !== sha256) return sizeMismatch(size, bytes.length);
    return { fileName, contentType, bytes };
  };
