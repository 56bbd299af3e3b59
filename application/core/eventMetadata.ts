// The metadata of events: who caused them, in which account and mode, and because of what.
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

/** Whoever sent a request. */
export interface Actor {
  /** `key:<first 16 hex characters of its fingerprint>`, `user:usr_…`, or `operator:<name>` for one at a terminal. */
  readonly actor: string;
  readonly requestId: string;
}

/** Whoever changes something, by a request or at a terminal. */
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

/** Of an event about an account or, null, about the platform itself; `root`: the id of what it is about. */
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
