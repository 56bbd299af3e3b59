// Adapters of refunds.
import type { SqlPool } from '../../application/ports/sql.ts';
import { capabilityAdapters } from '../capabilityAdapters.ts';
import { refundGuard } from './refundGuard.ts';

interface World {
  readonly storage: { readonly operations: SqlPool };
}

export const refunds = capabilityAdapters({
  adapters: ({ storage }: World) => ({ refundGuard: refundGuard(storage.operations) }),
  terminal: () => import('./terminal.ts'),
});
