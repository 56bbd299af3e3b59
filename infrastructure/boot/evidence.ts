// Where evidence lies: in the data directory, or in an S3-compatible storage.
import { join } from 'node:path';
import type { Accounts } from '../../application/core/accounts.ts';
import {
  completeUpload,
  evidenceUrl,
  grantUpload,
  receiveEvidence,
  showEvidence,
} from '../../application/disputes/evidence.ts';
import type { EvidenceLinks, EvidenceReceiver, EvidenceStorage } from '../../application/ports/evidenceStorage.ts';
import type { Tenant } from '../../application/ports/paymentProvider.ts';
import { evidenceProblem } from '../evidence/evidenceFile.ts';
import { EvidenceTokens } from '../evidence/evidenceTokens.ts';
import { FileEvidenceStorage } from '../evidence/fileStorage.ts';
import type { S3Location } from '../evidence/s3Storage.ts';
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
}

export const evidenceOf = (config: Config): EvidenceOptions => ({
  folder: join(config.dataDir, 'evidence'),
  s3: config.evidenceStorage,
  grantSeconds: config.evidenceGrantSeconds,
  viewSeconds: config.evidenceViewSeconds,
});

export interface Evidence extends Pick<EvidenceOptions, 'grantSeconds' | 'viewSeconds'> {
  readonly storage: EvidenceStorage;
  readonly receiver: EvidenceReceiver;
  readonly links: EvidenceLinks;
}

/** Nobody was given an upload URL of this service. */
const NO_RECEIVER: EvidenceReceiver = { receive: async () => null };

export const openEvidence = async (
  { evidence: { folder, s3, ...times }, keyring, publicUrl, clock, isAlone }: GatewayOptions,
  accounts: Accounts,
): Promise<Evidence> => {
  const links = new EvidenceTokens(keyring, publicUrl, clock, randomness);
  if (s3 !== null) {
    // The client of S3 is loaded by those who use it: 86 ms of CPU.
    const { S3EvidenceStorage } = await import('../evidence/s3Storage.ts');
    return { storage: new S3EvidenceStorage(s3), receiver: NO_RECEIVER, links, ...times };
  }
  const accountNow = ({ accountId, mode }: Tenant) => accounts.now(accountId, mode);
  const files = await FileEvidenceStorage.open({ folder, tokens: links, randomness, accountNow }, isAlone);
  return { storage: files, receiver: files, links, ...times };
};

/** What the routes of evidence can call. */
export const evidenceServices = (
  needs: Pick<Parameters<typeof grantUpload>[0], 'commands' | 'accounts' | 'randomness'>,
  { storage: evidence, receiver, links, grantSeconds, viewSeconds }: Evidence,
) => ({
  grantUpload: grantUpload({ ...needs, evidence, grantSeconds }),
  receiveEvidence: receiveEvidence({ receiver }),
  completeUpload: completeUpload({ ...needs, evidence, judgeEvidence: evidenceProblem }),
  evidenceUrl: evidenceUrl({ links, viewSeconds }),
  showEvidence: showEvidence({ evidence, links }),
});
