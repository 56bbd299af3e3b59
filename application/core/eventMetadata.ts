// Makes the metadata of events: who caused them, in which account and mode, and what led to them.
import { type AccountId, type Mode, PLATFORM_ACCOUNT } from '../../domain/kernel/ids.ts';
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

/** The sender of a request. */
export interface Actor {
  /** `key:<first 16 hex characters of its fingerprint>`, `user:usr_…`, or `operator:<name>` on the command line. */
  readonly actor: string;
  readonly requestId: string;
}

/** The author of a change, by a request or on the command line (`requestId` null). */
export type Changer = Omit<Actor, 'requestId'> & { readonly requestId: string | null };

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

/** Returns the metadata of a change to an account, or to the platform itself (null). `root`: the id of the changed entity. */
export const metadataForChange = (
  { actor, requestId }: Changer,
  accountId: AccountId | null,
  root: string,
): EventMetadata => ({
  account: accountId ?? PLATFORM_ACCOUNT,
  mode: 'live',
  actor,
  requestId,
  correlationId: root,
  causationId: requestId ?? root,
});
