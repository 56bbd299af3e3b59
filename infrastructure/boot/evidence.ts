// Where evidence lies: in the data directory, or in an S3-compatible storage.
import { join } from 'node:path';
import type { Accounts } from '../../application/core/accounts.ts';
import { completeUpload, evidenceUrl, grantUpload, receiveEvidence } from '../../application/disputes/evidence.ts';
import { showEvidence } from '../../application/disputes/viewEvidence.ts';
import type { EvidenceGrants, JudgeEvidence } from '../../application/ports/evidenceGrants.ts';
import type { EvidenceLinks, EvidenceReceiver, EvidenceStorage } from '../../application/ports/evidenceStorage.ts';
import type { Tenant } from '../../application/ports/paymentProvider.ts';
import { EvidenceTokens } from '../evidence/evidenceTokens.ts';
import { FileEvidenceStorage } from '../evidence/fileStorage.ts';
import { openEvidenceJudge } from '../evidence/judge.ts';
import type { S3Location } from '../evidence/s3Storage.ts';
import { evidenceGrants } from '../operations/evidenceGrants.ts';
import { systemRandomness as randomness } from '../system/randomness.ts';
import type { GatewayOptions } from './composition.ts';
import type { Config } from './config.ts';

export interface EvidenceOptions {
  /** Of files of this service's own. */
  readonly folder: string;
  /** null: files in the folder. */
  readonly s3: S3Location | null;
  readonly grantSeconds: number;
  readonly viewSeconds: number;
  /** Bytes that must stay free on the disk of the folder. */
  readonly freeSpaceMin: number;
}

export const evidenceOf = (config: Config): EvidenceOptions => ({
  folder: join(config.dataDir, 'evidence'),
  s3: config.evidenceStorage,
  grantSeconds: config.evidenceGrantSeconds,
  viewSeconds: config.evidenceViewSeconds,
  freeSpaceMin: config.evidenceFreeSpace,
});

export interface Evidence extends Pick<EvidenceOptions, 'grantSeconds' | 'viewSeconds'> {
  readonly storage: EvidenceStorage;
  readonly receiver: EvidenceReceiver;
  readonly links: EvidenceLinks;
  readonly grants: EvidenceGrants;
  readonly judge: JudgeEvidence;
  close(): Promise<void>;
}

/** Nobody was given an upload URL of this service. */
const NO_RECEIVER: EvidenceReceiver = { accept: async () => null, store: async () => null };

export const openEvidence = async (
  { storage: { operations }, evidence, keyring, publicUrl, clock, isAlone }: GatewayOptions,
  accounts: Accounts,
): Promise<Evidence> => {
  const { folder, s3, freeSpaceMin, ...times } = evidence;
  const links = new EvidenceTokens(keyring, publicUrl, clock);
  const grants = evidenceGrants(operations, randomness);
  if (isAlone) await grants.releaseAll();
  const { judge, close: closeJudge } = openEvidenceJudge();
  const opened = (storage: EvidenceStorage, receiver: EvidenceReceiver): Evidence => ({
    ...{ storage, receiver, links, grants, judge, ...times },
    close: async () => {
      storage.close();
      await closeJudge();
    },
  });
  if (s3 !== null) {
    // The client of S3 is loaded by those who use it: 86 ms of CPU.
    const { S3EvidenceStorage } = await import('../evidence/s3Storage.ts');
    return opened(new S3EvidenceStorage(s3), NO_RECEIVER);
  }
  const accountNow = ({ accountId, mode }: Tenant) => accounts.now(accountId, mode);
  const needs = { folder, tokens: links, randomness, accountNow, freeSpaceMin };
  const files = await FileEvidenceStorage.open(needs, isAlone);
  return opened(files, files);
};

/** What the routes of evidence can call. */
export const evidenceServices = (
  needs: Pick<Parameters<typeof grantUpload>[0], 'commands' | 'accounts' | 'randomness' | 'clock'> &
    Pick<Parameters<typeof completeUpload>[0], 'stopwatch'>,
  { storage: evidence, receiver, links, grants, judge, grantSeconds, viewSeconds }: Evidence,
) => ({
  grantUpload: grantUpload({ ...needs, evidence, grants, grantSeconds }),
  receiveEvidence: receiveEvidence({ receiver, evidence, grants }),
  completeUpload: completeUpload({ ...needs, evidence, grants, judgeEvidence: judge }),
  evidenceUrl: evidenceUrl({ links, viewSeconds }),
  showEvidence: showEvidence({ evidence, links }),
});
