// Common parts of use cases: their needs, their limits, and the security log's record of a changed setting.
import type { Tenant } from '../../domain/kernel/ids.ts';
import type { SettingChanged } from '../ports/securityEvents.ts';
import type { Accounts } from './accounts.ts';
import type { CommandHandler } from './commandHandler.ts';
import type { Changer } from './eventMetadata.ts';

export const settingChanged = (
  setting: string,
  { accountId: account, mode }: Tenant,
  { actor: by, requestId }: Changer,
  more: Pick<SettingChanged, 'changed' | 'endpointId' | 'keyId'> = {},
): SettingChanged => ({ setting, account, mode, by, requestId, ...more });

/** The needs of almost every use case: the handler of its commands, and the accounts of these commands. */
export interface UseCaseNeeds {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
}

/** The needs of all these functions together. Each takes its needs first. */
export type NeedsOf<Made> = [Made] extends [(needs: infer Needs) => unknown] ? Needs : never;

/** The command line is not limited, so that an operator can always change an account. */
export const limitsOf = ({ requestId }: Changer) => ({ isLimited: requestId !== null });
