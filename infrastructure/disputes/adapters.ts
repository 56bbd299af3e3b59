// What disputes need of the world: where their evidence lies.
import { capabilityAdapters } from '../capabilityAdapters.ts';
import { openEvidence } from '../evidence/evidence.ts';

export const disputes = capabilityAdapters({ adapters: openEvidence, terminal: () => import('./terminal.ts') });
