// Removes files whose grant ended without a confirmation, within a minute of real time (rule E9).
import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import { findEvidence } from '../../domain/dispute/evidence.ts';
import { addMillis, addSeconds, DAY_MS, fromMillis } from '../../domain/kernel/time.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import type { EvidenceGrants, KeptGrant } from '../ports/evidenceGrants.ts';
import type { EvidenceStorage } from '../ports/evidenceStorage.ts';
import type { Clock } from '../ports/system.ts';

export interface SweepNeeds {
  readonly commands: CommandHandler;
  readonly clock: Clock;
  readonly evidence: EvidenceStorage;
  readonly grants: EvidenceGrants;
}

/** Every ten seconds. */
export const SWEEP_PATTERN = '*/10 * * * * *';
/** Longer than a confirmation that started in time may take (application/disputes/evidence.ts). */
const GRACE_SECONDS = 40;
const PAGE = 100;
const AT_ONCE = 8;

/** The end of the last page with failures, after which the next run begins. */
export interface SweepPlace {
  after: Pick<KeptGrant, 'endsAt' | 'evidenceId'> | null;
}

/**
 * Removes the files and forgets grants that ended a day ago. Throws AggregateError with the failures of a page after its rest is done. The
 * next run then begins after that page, and the run after the last page begins at the first one, so failed grants don't keep later files.
 */
export const removeUnconfirmed = async (needs: SweepNeeds, place: SweepPlace = { after: null }): Promise<void> => {
  const { grants, clock } = needs;
  const now = fromMillis(clock.now());
  const failures: unknown[] = [];
  for (;;) {
    const ended = await grants.ended(addSeconds(now, -GRACE_SECONDS), PAGE, place.after);
    for (let i = 0; i < ended.length; i += AT_ONCE) {
      const done = await Promise.allSettled(ended.slice(i, i + AT_ONCE).map((grant) => removeOne(needs, grant)));
      failures.push(...done.flatMap((one) => (one.status === 'rejected' ? [one.reason] : [])));
    }
    place.after = ended.length < PAGE ? null : (ended.at(-1) ?? null);
    // If the storage is away, further pages would fail, too.
    if (ended.length < PAGE || failures.length > 0) break;
  }
  await grants.forgetEnded(addMillis(now, -DAY_MS));
  if (failures.length > 0) throw new AggregateError(failures, 'unconfirmed evidence files could not be removed');
};

const removeOne = async ({ commands, evidence, grants }: SweepNeeds, grant: KeptGrant): Promise<void> => {
  const { state } = await commands.load(MED_CASE, MED_CASE.stream(grant.caseId));
  // The process was killed after the confirmation and before the grant was forgotten.
  if (findEvidence(state, grant.evidenceId) !== null) return grants.forget(grant.evidenceId);
  await evidence.remove(grant);
  await grants.markRemoved(grant.evidenceId);
};
