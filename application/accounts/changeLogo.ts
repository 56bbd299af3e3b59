// An account's logo: its bytes are kept beside the log, which has their SHA-256 alone, so that events stay small (rule O3).
import type { AccountSettings } from '../../domain/account/account.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import type { Changer } from '../core/eventMetadata.ts';
import type { CheckedLogo, CheckLogo, Logos } from '../ports/logos.ts';
import type { WithTenantLock } from '../ports/tenantLock.ts';
import { changeAccountSettings, type SettingsNeeds } from './changeAccountSettings.ts';

interface Needs extends SettingsNeeds {
  readonly logos: Logos;
  readonly withTenantLock: WithTenantLock;
}

/**
 * All settings as they are from here on. null takes the logo away, and its bytes at once; the one before a new one is kept until the
 * next change, for pages that are open. No such account: `not_found`.
 */
export const changeLogo =
  (needs: Needs) =>
  (accountId: AccountId, logo: CheckedLogo | null, by: Changer): Promise<AccountSettings | Rejection> =>
    // Two at once would forget each other's bytes.
    needs.withTenantLock({ accountId, mode: 'live' }, 'logo', async () => {
      const before = await changeAccountSettings(needs)(accountId, {}, by);
      if (isRejection(before)) return before;
      if (logo !== null) await needs.logos.put(accountId, logo);
      const after = await changeAccountSettings(needs)(accountId, { logo: logo?.sha256 ?? null }, by);
      if (isRejection(after)) return after;
      await needs.logos.keepOnly(accountId, logo === null ? [] : [logo.sha256, before.logo ?? logo.sha256]);
      return after;
    });

/** Checks the image first: `invalid_request` with param `logo`. null takes the logo away. */
export const changeLogoTo =
  (needs: Needs & { readonly checkLogo: CheckLogo }) =>
  async (accountId: AccountId, image: Uint8Array | null, by: Changer): Promise<AccountSettings | Rejection> => {
    const logo = image && (await needs.checkLogo(image));
    return isRejection(logo) ? logo : changeLogo(needs)(accountId, logo, by);
  };
