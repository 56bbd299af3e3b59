// What use cases share: their needs, the metadata of their events (who caused them, in which account and mode, and what led to them), and
// the security log's record of a changed setting.
import { type AccountId, type Mode, PLATFORM_ACCOUNT, type Tenant } from '../../domain/kernel/ids.ts';
import type { EventMetadata } from '../ports/loggedEvent.ts';
import type { SettingChanged } from '../ports/securityEvents.ts';
import type { Accounts } from './accounts.ts';
import type { CommandHandler } from './commandHandler.ts';

export const settingChanged = (
  setting: string,
  { accountId: account, mode }: Tenant,
  { actor: by, requestId }: Changer,
  more: Pick<SettingChanged, 'changed' | 'endpointId' | 'keyId'> = {},
): SettingChanged => ({ setting, account, mode, by, requestId, ...more });

/** What almost every use case needs: the handler of its commands, and the accounts that they belong to. */
export interface UseCaseNeeds {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
}

/** The needs of all these functions together. Each takes its needs first. */
export type NeedsOf<Made> = [Made] extends [(needs: infer Needs) => unknown] ? Needs : never;

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

/** The command line is not limited, so that an operator can always change an account. */
export const limitsOf = ({ requestId }: Changer) => ({ isLimited: requestId !== null });

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
