// The secret that signs messages to payments' own URLs, one per account and mode (rule W7). A rotation replaces it at once, without
// overlap.

import { ACCOUNT, rotateOverrideSecret as decideRotation } from '../../domain/account/account.ts';
import type { Tenant } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import type { Accounts } from '../core/accounts.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { overrideSecretIdOf } from '../core/derivedIds.ts';
import { type Actor, metadataForRequest } from '../core/eventMetadata.ts';
import type { Randomness } from '../ports/randomness.ts';
import type { WebhookSecrets } from '../ports/secrets.ts';
import { keepSecret, rotateSecret } from './signingSecrets.ts';

interface Needs {
  readonly accounts: Accounts;
  readonly secrets: WebhookSecrets;
  readonly randomness: Randomness;
}

/**
 * Returns the current secret, 64 hex characters. Before the first rotation it creates version 0, which is never shown to the merchant.
 * Throws if the stored secret of a later version is missing.
 */
export const overrideSecret = async (needs: Needs, tenant: Tenant): Promise<string> => {
  const { accountId, mode } = tenant;
  const version = (await needs.accounts.refresh(accountId)).overrideSecretVersion[mode];
  const known = await needs.secrets.find(overrideSecretIdOf(accountId, mode), version);
  if (known !== null) return known;
  if (version > 0) throw new Error(`override secret ${version} of ${accountId} in ${mode} mode is missing`);
  return keepSecret(needs, overrideSecretIdOf(accountId, mode), version);
};

/** Creates a new secret and returns it, 64 hex characters. No other call returns it. Rejects like the account's decision. */
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
