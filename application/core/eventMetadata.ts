// The circumstances of what is written: who, in whose account, and because of what.
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import type { EventMetadata } from '../ports/loggedEvent.ts';

export const metadataForProcess = (
  process: string,
  tenant: { readonly accountId: AccountId; readonly mode: Mode },
  correlationId: string,
  causationId: string,
): EventMetadata => ({
  account: tenant.accountId,
  mode: tenant.mode,
  actor: `process:${process}`,
  requestId: null,
  correlationId,
  causationId,
});

/** Whoever sent a request. */
export interface Actor {
  /** `key:<first 16 hex characters of its fingerprint>`. */
  readonly actor: string;
  readonly requestId: string;
}

export const metadataForRequest = (
  { actor, requestId }: Actor,
  tenant: { readonly accountId: AccountId; readonly mode: Mode },
  correlationId: string,
): EventMetadata => ({
  account: tenant.accountId,
  mode: tenant.mode,
  actor,
  requestId,
  correlationId,
  causationId: requestId,
});
