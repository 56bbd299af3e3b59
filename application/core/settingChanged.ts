// Makes the security log's record of a changed setting: the setting, the account, and the key or user who changed it.
import type { Tenant } from '../../domain/kernel/ids.ts';
import type { SettingChanged } from '../ports/securityEvents.ts';
import type { Changer } from './eventMetadata.ts';

export const settingChanged = (
  setting: string,
  { accountId: account, mode }: Tenant,
  { actor: by, requestId }: Changer,
  more: Pick<SettingChanged, 'changed' | 'endpointId' | 'keyId'> = {},
): SettingChanged => ({ setting, account, mode, by, requestId, ...more });
