// The security log's record of a changed setting: which one, of which account, and by which key or user.
import type { Tenant } from '../ports/paymentProvider.ts';
import type { SettingChanged } from '../ports/securityEvents.ts';
import type { Changer } from './eventMetadata.ts';

export const settingChanged = (
  setting: string,
  { accountId: account, mode }: Tenant,
  { actor: by, requestId }: Changer,
  more: Pick<SettingChanged, 'changed' | 'endpointId' | 'keyId'> = {},
): SettingChanged => ({ setting, account, mode, by, requestId, ...more });
