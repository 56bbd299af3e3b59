// The thread that examines files (infrastructure/evidence/judge.ts).
import { hash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import type { EvidenceVerdict } from '../../application/ports/evidenceGrants.ts';
import { evidenceProblem } from './evidenceFile.ts';
import type { JudgedFile } from './judge.ts';

parentPort?.on('message', async ({ bytes: sent, mimeType }: JudgedFile) => {
  const bytes = Buffer.from(sent.buffer, sent.byteOffset, sent.byteLength);
  const problem = await evidenceProblem(bytes, mimeType);
  const verdict: EvidenceVerdict = problem ?? { sha256: hash('sha256', bytes, 'hex') };
  parentPort?.postMessage(verdict);
});
