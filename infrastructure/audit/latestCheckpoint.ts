// The latest checkpoint for a header of webhooks. It is read at most every few seconds, so that deliveries cost no query each.
import type { AuditTree } from '../../application/ports/auditTree.ts';
import type { Stopwatch } from '../../application/ports/system.ts';

const READ_EVERY_MS = 5_000;

/** Returns a function that returns the checkpoint in base64, or null before the first one. A failed read returns the previous one. */
export const latestCheckpoint = (
  tree: Pick<AuditTree, 'latest'>,
  { elapsedMs }: Pick<Stopwatch, 'elapsedMs'>,
): (() => Promise<string | null>) => {
  let readAtMs = Number.NEGATIVE_INFINITY;
  let latest: string | null = null;
  return async () => {
    if (elapsedMs() - readAtMs < READ_EVERY_MS) return latest;
    readAtMs = elapsedMs();
    const found = await tree.latest().catch(() => undefined);
    if (found !== undefined) latest = found && Buffer.from(found.note).toString('base64');
    return latest;
  };
};
