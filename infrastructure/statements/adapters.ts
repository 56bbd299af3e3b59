// Statements need no adapters of their own.
import { capabilityAdapters } from '../capabilityAdapters.ts';

export const statements = capabilityAdapters({
  adapters: () => ({}),
  terminal: () => import('./terminal.ts'),
});
