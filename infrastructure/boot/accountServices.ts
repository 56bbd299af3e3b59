// What routes can do with the settings of an account; each change is reported to the security log.
import { changeAccountSettings } from '../../application/accounts/changeAccountSettings.ts';
import { changeLogo } from '../../application/accounts/changeLogo.ts';
import type { Changer } from '../../application/core/eventMetadata.ts';
import type { SettingChanged } from '../../application/ports/securityEvents.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import type { Services } from '../../http/kernel/services.ts';
import { checkedLogo } from '../logos/logoImage.ts';
import { logos } from '../logos/logos.ts';

type Needs = Omit<Parameters<typeof changeLogo>[0], 'logos'>;
type AccountServices = Pick<Services, 'changeAccountSettings' | 'changeLogo' | 'findLogo'>;

export const accountServices = (
  operations: SqlPool,
  given: Needs,
  report: (change: SettingChanged) => void,
): AccountServices => {
  const needs = { ...given, logos: logos(operations) };
  const reportChange = (account: AccountId, { actor: by, requestId }: Changer, changed: readonly string[]) =>
    report({ setting: 'account', account, mode: 'live', by, requestId, changed });
  return {
    changeAccountSettings: async (accountId, change, by) => {
      const done = await changeAccountSettings(needs)(accountId, change, by);
      if (!isRejection(done)) reportChange(accountId, by, Object.keys(change));
      return done;
    },
    changeLogo: async (accountId, image, by) => {
      const logo = image && (await checkedLogo(image));
      if (isRejection(logo)) return logo;
      const done = await changeLogo(needs)(accountId, logo, by);
      if (!isRejection(done)) reportChange(accountId, by, ['logo']);
      return done;
    },
    findLogo: async (sha256) => (sha256 === null ? null : needs.logos.find(sha256)),
  };
};
