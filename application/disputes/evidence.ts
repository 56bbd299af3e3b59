// Evidence files of a case. The merchant gets an upload grant, uploads the file to the storage, and completes the upload, which checks
// the file. Confirmed files are shown by links (rules Q6, E9).
import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import { confirmEvidence, evidenceRefusal, findEvidence } from '../../domain/dispute/evidence.ts';
import { type DeclaredFile, EVIDENCE_BYTES_MAX, NO_EVIDENCE, NOT_UPLOADED } from '../../domain/dispute/evidenceFile.ts';
import type { Evidence, MedCase } from '../../domain/dispute/medCase.ts';
import { type EvidenceId, idIn, type MedCaseId, type Tenant } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { addSeconds, fromMillis } from '../../domain/kernel/time.ts';
import { type Actor, metadataForRequest } from '../core/eventMetadata.ts';
import { KeyedLock } from '../core/keyedLock.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type {
  EvidenceGrant,
  EvidenceGrants,
  EvidenceVerdict,
  GrantLimits,
  JudgeEvidence,
  KeptGrant,
} from '../ports/evidenceGrants.ts';
import {
  type EvidenceLinks,
  type EvidenceReceiver,
  type EvidenceStorage,
  EvidenceStorageUnavailable,
  type SentEvidence,
} from '../ports/evidenceStorage.ts';
import type { Clock, Randomness, Stopwatch } from '../ports/system.ts';
import { ownCase } from './ownCase.ts';

export interface EvidenceNeeds extends UseCaseNeeds {
  readonly evidence: EvidenceStorage;
  readonly grants: EvidenceGrants;
  readonly clock: Clock;
}

interface UploadGrant {
  readonly grant: EvidenceGrant;
  readonly url: string;
  readonly expiresInSeconds: number;
}

/** Too many uploads are open, or their files are too large. */
export interface UploadLimitReached extends Rejection {
  readonly retryAfterSeconds: number;
}

const LIMITS: GrantLimits = { openOfCase: 20, unconfirmedBytes: 20 * EVIDENCE_BYTES_MAX };
const REACHED: { readonly [Limit in keyof GrantLimits]: string } = {
  openOfCase: `The case has ${LIMITS.openOfCase} open uploads. Complete them or wait until they expire.`,
  unconfirmedBytes: 'The account has 200 MB of unconfirmed files. Complete them or wait until they are removed.',
};

/**
 * Grants one upload. Rejects with `not_found`, `case_not_open`, `evidence_limit_reached` or `upload_limit_reached`. Throws
 * EvidenceStorageUnavailable; then nothing was granted.
 */
export const grantUpload =
  (needs: EvidenceNeeds & { readonly randomness: Randomness; readonly grantSeconds: number }) =>
  async (
    tenant: Tenant,
    caseId: MedCaseId,
    file: DeclaredFile,
  ): Promise<UploadGrant | UploadLimitReached | Rejection> => {
    const { commands, accounts, evidence, grants, clock, randomness, grantSeconds } = needs;
    const own = await ownCase(commands, tenant, caseId);
    if (isRejection(own)) return own;
    const refusal = evidenceRefusal(own);
    if (refusal !== null) return refusal;
    const { accountId, mode } = tenant;
    const now = fromMillis(clock.now());
    const at = await accounts.now(accountId, mode);
    const evidenceId = idIn<EvidenceId>(accountId, randomness.bytes(16));
    const expiresAt = addSeconds(at, grantSeconds);
    const ref = { accountId, mode, evidenceId, caseId };
    const grant = { ...ref, ...file, at, expiresAt, endsAt: addSeconds(now, grantSeconds) };
    const upload = { accountId, mode, evidenceId, contentType: file.mimeType, size: file.fileSize, expiresAt };
    // A URL without a stored grant accepts no file.
    const url = await evidence.uploadUrl(upload, grantSeconds);
    const outcome = await grants.add(grant, LIMITS, now);
    if (outcome === 'granted') return { grant, url, expiresInSeconds: grantSeconds };
    return {
      ...reject('upload_limit_reached', REACHED[outcome.reached]),
      retryAfterSeconds: outcome.retrySeconds,
    };
  };

const IN_PROGRESS = reject('upload_in_progress', 'Another upload to this URL is in progress. Wait until it ends.');

/**
 * Stores a file sent to an upload URL. Rejects with `invalid_signature` if the URL is not for this request, was used, or has expired.
 * Rejects with `upload_in_progress` if another request is uploading to it.
 */
export const receiveEvidence =
  ({
    receiver,
    evidence,
    grants,
  }: Pick<EvidenceNeeds, 'evidence' | 'grants'> & { readonly receiver: EvidenceReceiver }) =>
  async (sent: SentEvidence): Promise<{ readonly sha256: string } | Rejection> => {
    const upload = await receiver.accept(sent);
    if (upload === null) return BAD_SIGNATURE;
    const claim = await grants.beginUpload(upload.evidenceId);
    if (claim === 'busy') return IN_PROGRESS;
    if (claim === null) return BAD_SIGNATURE;
    let sha256: string | null = null;
    let isOpen = false;
    try {
      sha256 = await receiver.store(upload, sent.body);
    } finally {
      isOpen = await claim.end();
    }
    if (sha256 !== null && isOpen) return { sha256 };
    // The process stalled so long that the grant expired meanwhile.
    if (sha256 !== null) await evidence.remove(upload);
    return BAD_SIGNATURE;
  };

export const BAD_SIGNATURE = reject(
  'invalid_signature',
  'This URL is not valid for this request, was already used, or has expired.',
);

/** How long a request waits while another process checks a file of the account. */
const TURN_MS_MAX = 20_000;
const TURN_LOOK_MS = 100;
/** How long after the end of its grant a confirmation may finish. The sweep waits longer before it removes the file. */
const CONFIRMATION_SECONDS = 20;

export interface CompletionNeeds extends EvidenceNeeds {
  readonly judgeEvidence: JudgeEvidence;
  readonly stopwatch: Stopwatch;
}

/**
 * Checks an uploaded file and adds it to the case. Idempotent: a repeat returns the same evidence, or the same error for a rejected file.
 * With `confirmOnce`, a file that the case has already is removed, and the earlier evidence returned.
 * Rejections, in this order: `not_found` (case or evidence), `case_not_open`, `evidence_limit_reached`, an earlier verdict,
 * `EVIDENCE_NOT_UPLOADED`, `EVIDENCE_SIZE_MISMATCH`, `invalid_evidence`. Evidence that is already confirmed is returned even if the case
 * has closed. Throws EvidenceStorageUnavailable.
 */
export const completeUpload = (needs: CompletionNeeds, confirming: typeof confirmEvidence = confirmEvidence) => {
  const accountLocks = new KeyedLock();
  return async (
    tenant: Tenant,
    caseId: MedCaseId,
    evidenceId: EvidenceId,
    by: Actor,
  ): Promise<Evidence | Rejection> => {
    const complete = (judge: Judging) => completeOnce(needs, { tenant, caseId, evidenceId, by, confirming }, judge);
    const known = await complete(async () => null);
    if (known !== null) return known;
    return accountLocks.run(tenant.accountId, async () => {
      const done = await complete((grant) => judgeInTurn(needs, grant));
      return done ?? NOT_UPLOADED;
    });
  };
};

/** Checks a file without a verdict. Returns null if it can't be checked now. */
type Judging = (grant: KeptGrant) => Promise<EvidenceVerdict | null>;

interface Completion {
  readonly tenant: Tenant;
  readonly caseId: MedCaseId;
  readonly evidenceId: EvidenceId;
  readonly by: Actor;
  readonly confirming: typeof confirmEvidence;
}

/** Returns null if the file has no verdict. */
const completeOnce = async (
  { commands, accounts, evidence, grants, clock }: CompletionNeeds,
  { tenant, caseId, evidenceId, by, confirming }: Completion,
  judge: Judging,
): Promise<Evidence | Rejection | null> => {
  // The grant is read first: if it is gone, the case has the evidence.
  const grant = await grants.find(evidenceId);
  const own = await ownCase(commands, tenant, caseId);
  if (isRejection(own)) return own;
  const before = findEvidence(own, evidenceId);
  if (before !== null) return before;
  if (grant === null || grant.caseId !== caseId) return NO_EVIDENCE;
  const refusal = evidenceRefusal(own);
  if (refusal !== null) return refusal;
  if (isRejection(grant.verdict)) return grant.verdict;
  const at = await accounts.now(tenant.accountId, tenant.mode);
  if (at >= grant.expiresAt || fromMillis(clock.now()) >= grant.endsAt || grant.isRemoved) return NOT_UPLOADED;
  const verdict = grant.verdict ?? (await judge(grant));
  if (verdict === null || isRejection(verdict)) return verdict;
  if (fromMillis(clock.now()) >= addSeconds(grant.endsAt, CONFIRMATION_SECONDS)) return NOT_UPLOADED;
  const { fileName, fileSize, mimeType, at: grantedAt } = grant;
  const file = { evidenceId, fileName, fileSize, mimeType, uploadedBy: 'merchant' as const };
  const confirm = confirming({ ...file, sha256: verdict.sha256, grantedAt, at });
  const metadata = metadataForRequest(by, tenant, own.terms.paymentId);
  const done = await commands.execute(MED_CASE, MED_CASE.stream(caseId), confirm, metadata);
  if (isRejection(done)) return done;
  if (done.reply.evidenceId !== evidenceId) await evidence.remove(grant);
  await grants.forget(evidenceId);
  return done.reply;
};

/** Checks one file per account at a time, across all processes. Stores the verdict; a missing file gets none. */
const judgeInTurn = async (
  { evidence, grants, judgeEvidence, stopwatch }: CompletionNeeds,
  { accountId, mode, evidenceId, mimeType, fileSize }: KeptGrant,
): Promise<EvidenceVerdict | null> => {
  const until = stopwatch.elapsedMs() + TURN_MS_MAX;
  for (;;) {
    const end = await grants.beginJudging(accountId);
    if (end === null) {
      if (stopwatch.elapsedMs() > until)
        throw new EvidenceStorageUnavailable('another process takes too long to check a file of the account');
      await stopwatch.pause(TURN_LOOK_MS);
      continue;
    }
    try {
      const judgedMeanwhile = (await grants.find(evidenceId))?.verdict;
      if (judgedMeanwhile) return judgedMeanwhile;
      const read = () => evidence.read({ accountId, mode, evidenceId });
      const verdict = await judgeEvidence({ read, mimeType, fileSize });
      if (verdict !== null) await grants.keepVerdict(evidenceId, verdict);
      return verdict;
    } finally {
      await end();
    }
  }
};

/** Returns a new link to a confirmed file, valid for `viewSeconds`. */
export const evidenceUrl =
  ({ links, viewSeconds }: { readonly links: EvidenceLinks; readonly viewSeconds: number }) =>
  ({ accountId, mode }: Tenant, { evidenceId, fileName, fileSize, mimeType, sha256 }: Evidence): Promise<string> => {
    const view = { accountId, mode, evidenceId, fileName, size: fileSize, contentType: mimeType, sha256 };
    return links.urlFor('GET', view, viewSeconds);
  };

/** Returns the confirmed files of a case, newest grant first. */
export const evidenceOf = ({ evidence }: MedCase): readonly Evidence[] =>
  evidence.toSorted((a, b) =>
    a.grantedAt === b.grantedAt ? (a.evidenceId < b.evidenceId ? 1 : -1) : a.grantedAt < b.grantedAt ? 1 : -1,
  );
