// The secret that signs what goes to payments' own URLs: one per account and mode (rules W7). POST
// /v1/webhooks/override-secret/rotate makes a new one, at once and with no overlap.
import { rotateOverrideSecret as decideRotation } from '../../domain/account/account.ts';
import { streamName } from '../../domain/kernel/event.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import type { Accounts } from '../core/accounts.ts';
import { ACCOUNT } from '../core/aggregates.ts';
import { CommandContention, type CommandHandler } from '../core/commandHandler.ts';
import { overrideSecretIdOf } from '../core/derivedIds.ts';
import { type Actor, metadataForRequest } from '../core/eventMetadata.ts';
import type { Tenant } from '../ports/paymentProvider.ts';
import type { Randomness } from '../ports/randomness.ts';
import type { WebhookSecrets } from '../ports/secrets.ts';

interface Needs {
  readonly accounts: Accounts;
  readonly secrets: WebhookSecrets;
  readonly randomness: Randomness;
}

/** 32 random bytes as 64 hex characters; the one that stands when it was kept before. */
const keep = ({ secrets, randomness }: Needs, { accountId, mode }: Tenant, version: number): Promise<string> =>
  secrets.keep(overrideSecretIdOf(accountId, mode), version, randomness.bytes(32).toString('hex'));

/** The one of now, whichever process rotated it last. Before the first rotation one is made, which nobody is shown. */
export const overrideSecret = async (needs: Needs, tenant: Tenant): Promise<string> => {
  const { accountId, mode } = tenant;
  const version = (await needs.accounts.refresh(accountId)).overrideSecretVersion[mode];
  const known = await needs.secrets.find(overrideSecretIdOf(accountId, mode), version);
  if (known !== null) return known;
  if (version > 0) throw new Error(`override secret ${version} of ${accountId} in ${mode} mode is missing`);
  return keep(needs, tenant, version);
};

/** Each lost one means that another rotation was made meanwhile. */
const ATTEMPTS_MAX = 10;

/** The new secret, 64 hex characters: nobody else was shown it. Throws CommandContention when others keep being faster. */
export const rotateOverrideSecret =
  (needs: Needs & { readonly commands: CommandHandler }) =>
  async (tenant: Tenant, requester: Actor): Promise<string | Rejection> => {
    const { commands, accounts } = needs;
    const { accountId: account, mode } = tenant;
    const stream = streamName.account(account);
    const metadata = metadataForRequest(requester, tenant, account);
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const version = (await accounts.refresh(account)).overrideSecretVersion[mode] + 1;
      // Kept before the event that names it: a version without a secret could never be signed for.
      const secret = await keep(needs, tenant, version);
      const decide = decideRotation(mode, version, await accounts.now(account, mode));
      const done = await commands.execute(ACCOUNT, stream, decide, metadata);
      if (isRejection(done)) return done;
      if (done.reply === 'rotated') return secret;
    }
    throw new CommandContention(`override secret of ${account}: ${ATTEMPTS_MAX} rotations in a row were faster`);
  };
