// Changes an account's settings. Operators may change all of them, merchants some (rules O1, O2, O3).
import { ACCOUNT, type AccountSettings } from '../../domain/account/account.ts';
import { changeSettings, type SettingsChange } from '../../domain/account/settings.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { type Changer, metadataForChange } from '../core/eventMetadata.ts';
import { limitsOf, type UseCaseNeeds } from '../core/useCase.ts';
import type { AccessLeases } from '../ports/accessLeases.ts';
import type { CheckedLogo, CheckLogo, Logos } from '../ports/logos.ts';
import type { WithTenantLock } from '../ports/tenantLock.ts';

// --- The logo. Its bytes are stored outside the log, which holds only their SHA-256, so that events stay small (rule O3). ---

interface LogoNeeds extends SettingsNeeds {
  readonly logos: Logos;
  readonly withTenantLock: WithTenantLock;
}

/**
 * Returns all settings after the change. null removes the logo and its bytes. After a replacement, the previous logo is kept until the
 * next change, for open pages. Rejects with `not_found` if the account does not exist, and with `change_limit_reached`.
 */
export const changeLogo =
  (needs: LogoNeeds) =>
  (accountId: AccountId, logo: CheckedLogo | null, by: Changer): Promise<AccountSettings | Rejection> =>
    // Concurrent changes would delete each other's bytes.
    needs.withTenantLock({ accountId, mode: 'live' }, 'logo', async () => {
      const before = await changeAccountSettings(needs)(accountId, {}, by);
      if (isRejection(before)) return before;
      if (logo !== null) await needs.logos.put(accountId, logo);
      const after = await changeAccountSettings(needs)(accountId, { logo: logo?.sha256 ?? null }, by);
      if (isRejection(after)) {
        if (logo !== null) await needs.logos.keepOnly(accountId, before.logo === null ? [] : [before.logo]);
        return after;
      }
      await needs.logos.keepOnly(accountId, logo === null ? [] : [logo.sha256, before.logo ?? logo.sha256]);
      return after;
    });

/** Checks the image, then changes the logo. Rejects with `invalid_request` (param `logo`) if it is invalid. null removes the logo. */
export const changeLogoTo =
  (needs: LogoNeeds & { readonly checkLogo: CheckLogo }) =>
  async (accountId: AccountId, image: Uint8Array | null, by: Changer): Promise<AccountSettings | Rejection> => {
    const logo = image && (await needs.checkLogo(image));
    return isRejection(logo) ? logo : changeLogo(needs)(accountId, logo, by);
  };

export interface SettingsNeeds extends UseCaseNeeds {
  readonly leases: Pick<AccessLeases, 'announce'>;
}

/**
 * Returns all settings after the change, which then holds in every process. Settings that are not named stay unchanged. Rejects with
 * `invalid_request` (param: the setting) if a value is out of bounds, and with `not_found` if the account does not exist.
 */
export const changeAccountSettings =
  ({ commands, accounts, leases }: SettingsNeeds) =>
  async (accountId: AccountId, change: SettingsChange, by: Changer): Promise<AccountSettings | Rejection> => {
    const stream = ACCOUNT.stream(accountId);
    if ((await commands.load(ACCOUNT, stream)).state.status !== 'open')
      return reject('not_found', 'There is no such account.');
    const decide = changeSettings(change, accounts.realNow(), accounts.declared.settings);
    const metadata = metadataForChange(by, accountId, accountId);
    const done = await commands.execute(ACCOUNT, stream, decide, metadata, limitsOf(by));
    if (isRejection(done)) return done;
    // Announced even if nothing changed: an earlier, identical change may have crashed before its announcement.
    if (Object.keys(change).length > 0) await leases.announce(accountId);
    return done.reply;
  };
