// Changes an account's logo. Its bytes are stored outside the log, which holds only their SHA-256, so that events stay small (rule O3).
import type { AccountSettings } from '../../domain/account/account.ts';
import type { SettingsChange } from '../../domain/account/settings.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import type { Changer } from '../core/eventMetadata.ts';
import type { CheckedLogo, CheckLogo, Logos } from '../ports/logos.ts';
import type { WithTenantLock } from '../ports/tenantLock.ts';
import { changeAccountSettings, type SettingsNeeds } from './changeAccountSettings.ts';

interface LogoNeeds extends SettingsNeeds {
  readonly logos: Logos;
  readonly withTenantLock: WithTenantLock;
}

/**
 * Changes the logo, and other settings in the same event. Returns all settings after the change. null removes the logo and its bytes.
 * After a replacement, the previous logo is kept until the next change, for open pages. Rejects like `changeAccountSettings`.
 */
export const replaceLogo =
  (needs: LogoNeeds) =>
  (
    accountId: AccountId,
    logo: CheckedLogo | null,
    by: Changer,
    others: SettingsChange = {},
  ): Promise<AccountSettings | Rejection> =>
    // Concurrent changes would delete each other's bytes.
    needs.withTenantLock({ accountId, mode: 'live' }, 'logo', async () => {
      const before = await changeAccountSettings(needs)(accountId, {}, by);
      if (isRejection(before)) return before;
      if (logo !== null) await needs.logos.put(accountId, logo);
      const after = await changeAccountSettings(needs)(accountId, { ...others, logo: logo?.sha256 ?? null }, by);
      if (isRejection(after)) {
        if (logo !== null) await needs.logos.keepOnly(accountId, before.logo === null ? [] : [before.logo]);
        return after;
      }
      await needs.logos.keepOnly(accountId, logo === null ? [] : [logo.sha256, before.logo ?? logo.sha256]);
      return after;
    });

/** Checks the image, then changes the logo. Rejects with `invalid_request` (param `logo`) if it is invalid. null removes the logo. */
export const changeLogo =
  (needs: LogoNeeds & { readonly checkLogo: CheckLogo }) =>
  async (accountId: AccountId, image: Uint8Array | null, by: Changer): Promise<AccountSettings | Rejection> => {
    const logo = image && (await needs.checkLogo(image));
    return isRejection(logo) ? logo : replaceLogo(needs)(accountId, logo, by);
  };
