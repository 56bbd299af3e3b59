// Opens the storage of evidence: the data directory, or an S3-compatible storage.
import { join } from 'node:path';
import type { EvidenceGrants, JudgeEvidence } from '../../application/ports/evidenceGrants.ts';
import type { EvidenceLinks, EvidenceReceiver, EvidenceStorage } from '../../application/ports/evidenceStorage.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import type { Clock } from '../../application/ports/system.ts';
import type { AccountId, Mode, Tenant } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { Closing } from '../capabilityAdapters.ts';
import type { Config } from '../config/config.ts';
import type { SecretsKeyring } from '../secrets/keyring.ts';
import { systemRandomness as randomness } from '../system/system.ts';
import { evidenceGrants } from './evidenceGrants.ts';
import { EvidenceTokens } from './evidenceTokens.ts';
import { FileEvidenceStorage } from './fileStorage.ts';
import { openEvidenceJudge } from './judge.ts';
import type { S3Location } from './s3Storage.ts';

export interface EvidenceOptions {
  /** Folder of files in this service's own storage. */
  readonly folder: string;
  /** null: files are stored in the folder. */
  readonly s3: S3Location | null;
  readonly grantSeconds: number;
  readonly viewSeconds: number;
  /** Bytes that must stay free on the folder's disk. */
  readonly freeSpaceMin: number;
}

export const evidenceOf = (config: Config): EvidenceOptions => ({
  folder: join(config.dataDir, 'evidence'),
  s3: config.evidenceStorage,
  grantSeconds: config.evidenceGrantSeconds,
  viewSeconds: config.evidenceViewSeconds,
  freeSpaceMin: config.evidenceFreeSpace,
});

/** The adapters that the disputes capability needs. */
type EvidenceAdapters = Pick<EvidenceOptions, 'grantSeconds' | 'viewSeconds'> & {
  readonly evidence: EvidenceStorage;
  readonly receiver: EvidenceReceiver;
  readonly evidenceLinks: EvidenceLinks;
  readonly grants: EvidenceGrants;
  readonly judgeEvidence: JudgeEvidence;
};

export interface World extends Closing {
  readonly storage: { readonly operations: SqlPool };
  readonly evidence: EvidenceOptions;
  readonly keyring: SecretsKeyring;
  readonly publicUrl: string;
  readonly clock: Clock;
  readonly isAlone: boolean;
  readonly accounts: { now(id: AccountId, mode: Mode): Promise<Timestamp> };
}

/** With S3, this service issues no upload URLs of its own. */
const NO_RECEIVER: EvidenceReceiver = { accept: async () => null, store: async () => null };

export const openEvidence = async (world: World): Promise<EvidenceAdapters> => {
  const { storage, evidence: options, keyring, publicUrl, clock, isAlone, accounts, closing } = world;
  const { folder, s3, freeSpaceMin, ...times } = options;
  const evidenceLinks = new EvidenceTokens(keyring, publicUrl, clock);
  const grants = evidenceGrants(storage.operations, randomness);
  if (isAlone) await grants.releaseAll();
  const { judge: judgeEvidence, close: closeJudge } = openEvidenceJudge();
  const opened = (evidence: EvidenceStorage, receiver: EvidenceReceiver): EvidenceAdapters => {
    closing(async () => {
      evidence.close();
      await closeJudge();
    });
    return { evidence, receiver, evidenceLinks, grants, judgeEvidence, ...times };
  };
  if (s3 !== null) {
    // The S3 client is loaded only when used: it takes 86 ms of CPU.
    const { S3EvidenceStorage } = await import('./s3Storage.ts');
    return opened(new S3EvidenceStorage(s3), NO_RECEIVER);
  }
  const accountNow = ({ accountId, mode }: Tenant) => accounts.now(accountId, mode);
  const needs = { folder, tokens: evidenceLinks, randomness, accountNow, freeSpaceMin };
  const files = await FileEvidenceStorage.open(needs, isAlone);
  return opened(files, files);
};
