// Analysts' access to the views of the schema `analytics`, and its limits (rules N1–N4, ADR 0016).
import { capability } from '../core/capability.ts';
import type { Analysts } from '../ports/analysts.ts';
import { analystGrants, type GrantNeeds } from './grants.ts';

interface AnalyticsNeeds {
  readonly analysts: Analysts;
}

export const analytics = capability({
  name: 'analytics',
  parts: (needs: AnalyticsNeeds) => needs,
  upkeep: [
    {
      failure: 'analysts’ sessions could not be checked',
      pattern: '*/2 * * * * *',
      onlyLeader: true,
      run: async ({ analysts }) => void (await analysts.restrain()),
    },
  ],
  operators: (needs: GrantNeeds) => analystGrants(needs),
});
