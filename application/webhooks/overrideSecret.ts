// The secret that signs messages to payments' own URLs: one for each account and mode (rule W7). Rotating it replaces it at once, with no
// overlap.
import { ACCOUNT, rotateOverrideSecret as decideRotation } from '../../domain/account/account.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import type { Accounts } from '../core/accounts.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { overrideSecretIdOf } from '../core/derivedIds.ts';
import { type Actor, metadataForRequest } from '../core/eventMetadata.ts';
import type { Tenant } from '../ports/paymentProvider.ts';
import type { Randomness } from '../ports/randomness.ts';
import type { WebhookSecrets } from '../ports/secrets.ts';
import { keepSecret, rotateSecret } from './signingSecrets.ts';

interface Needs {
  readonly accounts: Accounts;
  readonly secrets: WebhookSecrets;
  readonly randomness: Randomness;
}

/**
 * Returns the present secret, 64 hex characters, whichever process rotated it last. Before the first rotation it makes version 0, which no
 * merchant is shown. Throws when the stored secret of a later version is missing.
 */
export const overrideSecret = async (needs: Needs, tenant: Tenant): Promise<string> => {
  const { accountId, mode } = tenant;
  const version = (await needs.accounts.refresh(accountId)).overrideSecretVersion[mode];
  const known = await needs.secrets.find(overrideSecretIdOf(accountId, mode), version);
  if (known !== null) return known;
  if (version > 0) throw new Error(`override secret ${version} of ${accountId} in ${mode} mode is missing`);
  return keepSecret(needs, overrideSecretIdOf(accountId, mode), version);
};

/** Makes a new secret and returns it, 64 hex characters; it is in no other answer. Rejects as the account's decision does. */
export const rotateOverrideSecret =
  (needs: Needs & { readonly commands: CommandHandler }) =>
  async (tenant: Tenant, requester: Actor): Promise<string | Rejection> => {
    const { commands, accounts } = needs;
    const { accountId: account, mode } = tenant;
    const metadata = metadataForRequest(requester, tenant, account);
    return rotateSecret(needs, {
      id: overrideSecretIdOf(account, mode),
      nextVersion: async () => (await accounts.refresh(account)).overrideSecretVersion[mode] + 1,
      record: async (version) => {
        const decide = decideRotation(mode, version, await accounts.now(account, mode));
        const done = await commands.execute(ACCOUNT, ACCOUNT.stream(account), decide, metadata);
        return isRejection(done) ? done : done.reply;
      },
    });
  };
