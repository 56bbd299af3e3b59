// The circumstances of what a process does by itself.
import type { AccountId, Mode } from '../domain/kernel/ids.ts';
import type { Circumstances } from './ports/loggedEvent.ts';

export const byProcess = (
  process: string,
  tenant: { readonly accountId: AccountId; readonly mode: Mode },
  correlationId: string,
  causationId: string,
): Circumstances => ({
  account: tenant.accountId,
  mode: tenant.mode,
  actor: `process:${process}`,
  requestId: null,
  correlationId,
  causationId,
});
