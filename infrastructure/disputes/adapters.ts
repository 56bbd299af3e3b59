// Adapters of disputes: storage for evidence files.
import { capabilityAdapters } from '../capabilityAdapters.ts';
import { openEvidence } from '../evidence/evidence.ts';

export const disputes = capabilityAdapters({ adapters: openEvidence, terminal: () => import('./terminal.ts') });
