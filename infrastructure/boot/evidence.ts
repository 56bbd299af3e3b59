// Where evidence lies: in the data directory, or in an S3-compatible storage.
import { join } from 'node:path';
import type { EvidenceReceiver, EvidenceStorage } from '../../application/ports/evidenceStorage.ts';
import type { EvidenceTokens } from '../evidence/evidenceTokens.ts';
import { FileEvidenceStorage } from '../evidence/fileStorage.ts';
import { S3EvidenceStorage } from '../evidence/s3Storage.ts';
import { systemRandomness } from '../system/randomness.ts';
import type { Config } from './config.ts';

export interface EvidenceOptions extends Pick<Config, 'dataDir' | 'evidenceStorage'> {
  readonly grantSeconds: number;
  readonly viewSeconds: number;
}

interface Parts {
  readonly tokens: EvidenceTokens;
  readonly accountNow: ConstructorParameters<typeof FileEvidenceStorage>[0]['accountNow'];
  readonly isAlone: boolean;
}

/** Nobody was given a URL of this service. */
const NO_RECEIVER: EvidenceReceiver = { receive: async () => null };

export const openEvidence = async (
  { dataDir, evidenceStorage }: EvidenceOptions,
  { tokens, accountNow, isAlone }: Parts,
): Promise<{ readonly storage: EvidenceStorage; readonly receiver: EvidenceReceiver }> => {
  if (evidenceStorage !== null) return { storage: new S3EvidenceStorage(evidenceStorage), receiver: NO_RECEIVER };
  const folder = join(dataDir, 'evidence');
  const files = await FileEvidenceStorage.open({ folder, tokens, randomness: systemRandomness, accountNow }, isAlone);
  return { storage: files, receiver: files };
};
