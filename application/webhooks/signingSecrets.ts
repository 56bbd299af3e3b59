// Secrets that sign messages: those of endpoints, and those of accounts for payments' own URLs (rule W7). A rotation takes effect at once.

import { ACCOUNT, rotateOverrideSecret as decideRotation } from '../../domain/account/account.ts';
import type { Tenant } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import type { Endpoint } from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import type { Accounts } from '../core/accounts.ts';
import { CommandContention, type CommandHandler } from '../core/commandHandler.ts';
import { overrideSecretIdOf } from '../core/derivedIds.ts';
import { type Actor, metadataForRequest } from '../core/eventMetadata.ts';
import type { WebhookSecrets } from '../ports/secrets.ts';
import type { Randomness } from '../ports/system.ts';

// --- The secret for payments' own URLs: one per account and mode. A rotation replaces it at once, without overlap. ---

interface OverrideNeeds {
  readonly accounts: Accounts;
  readonly secrets: WebhookSecrets;
  readonly randomness: Randomness;
}

/**
 * Returns the current secret, 64 hex characters. Before the first rotation it creates version 0, which is never shown to the merchant.
 * Throws if the stored secret of a later version is missing.
 */
export const overrideSecret = async (needs: OverrideNeeds, tenant: Tenant): Promise<string> => {
  const { accountId, mode } = tenant;
  const version = (await needs.accounts.refresh(accountId)).overrideSecretVersion[mode];
  const known = await needs.secrets.find(overrideSecretIdOf(accountId, mode), version);
  if (known !== null) return known;
  if (version > 0) throw new Error(`override secret ${version} of ${accountId} in ${mode} mode is missing`);
  return keepSecret(needs, overrideSecretIdOf(accountId, mode), version);
};

/** Creates a new secret and returns it, 64 hex characters. No other call returns it. Rejects like the account's decision. */
export const rotateOverrideSecret =
  (needs: OverrideNeeds & { readonly commands: CommandHandler }) =>
  async (tenant: Tenant, requester: Actor): Promise<string | Rejection> => {
    const { commands, accounts } = needs;
    const { accountId: account, mode } = tenant;
    const metadata = metadataForRequest(requester, tenant, account);
    return rotateSecret(needs, {
      id: overrideSecretIdOf(account, mode),
      nextVersion: async () => (await accounts.refresh(account)).overrideSecretVersion[mode] + 1,
      record: async (version) => {
        const decide = decideRotation(mode, version, await accounts.now(account, mode));
        const done = await commands.execute(ACCOUNT, ACCOUNT.stream(account), decide, metadata, { isLimited: true });
        return isRejection(done) ? done : done.reply;
      },
    });
  };

interface Needs {
  readonly secrets: WebhookSecrets;
  readonly randomness: Randomness;
}
type SecretId = Parameters<WebhookSecrets['keep']>[0];

/** Stores 32 random bytes, as 64 hex characters, unless the version already has a secret. Returns the version's secret. */
export const keepSecret = ({ secrets, randomness }: Needs, id: SecretId, version: number): Promise<string> =>
  secrets.keep(id, version, randomness.bytes(32).toString('hex'));

/** Returns the endpoint's signing secret. Throws if it is missing. */
export const endpointSecret = async (
  secrets: WebhookSecrets,
  { endpointId, secretVersion }: Pick<Endpoint, 'endpointId' | 'secretVersion'>,
): Promise<string> => {
  const secret = await secrets.find(endpointId, secretVersion);
  if (secret === null) throw new Error(`the signing secret of endpoint ${endpointId} is missing`);
  return secret;
};

/** An attempt fails only if another rotation came first. */
const ATTEMPTS_MAX = 10;

interface Rotation {
  readonly id: SecretId;
  /** Returns the version after the stream's current one. */
  readonly nextVersion: () => Promise<number | Rejection>;
  /** Makes the version the signing one. Returns 'taken' if another rotation came first. */
  readonly record: (version: number) => Promise<'rotated' | 'taken' | Rejection>;
}

/**
 * Replaces the signing secret and returns the new one, 64 hex characters. Rejects like `nextVersion` and `record`. Throws
 * CommandContention if other rotations came first ten times in a row.
 */
export const rotateSecret = async (
  needs: Needs,
  { id, nextVersion, record }: Rotation,
): Promise<string | Rejection> => {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const version = await nextVersion();
    if (isRejection(version)) return version;
    // Stored before the event that names it, because a version without a secret couldn't sign.
    const secret = await keepSecret(needs, id, version);
    const reply = await record(version);
    if (isRejection(reply)) return reply;
    if (reply !== 'rotated') continue;
    // The version before is kept, because the log may be restored to it.
    await needs.secrets.forgetBefore(id, version - 1);
    return secret;
  }
  throw new CommandContention(`signing secret of ${id}: ${ATTEMPTS_MAX} concurrent rotations came first`);
};
