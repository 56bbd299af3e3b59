// Personal data: reports of a person's data, its erasure, and its retention (rules L1–L3).
import { BY_ROW, capability, each, job } from '../core/capability.ts';
import { type EraseNeeds, eraseData } from './eraseData.ts';
import { completeErasure, completeErasureOf, type ErasureNeeds, erasure } from './erasureWork.ts';
import { findPerson } from './findPerson.ts';
import { eraseAfterRetention, type RetentionNeeds, type RetentionTurns } from './retention.ts';

interface PrivacyNeeds extends ErasureNeeds, RetentionNeeds {}

export const privacy = capability({
  name: 'privacy',
  parts: (needs: PrivacyNeeds) => ({ ...needs, turns: new Map() as RetentionTurns }),
  processes: [erasure],
  jobs: [
    job(completeErasure, {
      handler: (needs: PrivacyNeeds) => each(completeErasureOf(needs)),
      places: { places: 24, perTarget: 24 },
      idle: 'awaited',
      // No table shows which of its steps are done.
      owed: BY_ROW,
    }),
  ],
  upkeep: [
    {
      onlyLeader: true,
      failure: 'personal data whose retention has passed could not be erased',
      pattern: '20 * * * * *',
      run: (needs) => eraseAfterRetention(needs, needs.turns),
    },
  ],
  operators: (needs: EraseNeeds) => ({
    findPersonalData: findPerson(needs),
    erasePersonalData: eraseData(needs),
  }),
});
