// POST /v1/webhooks/override-secret/rotate (rule W7): a new secret for what goes to payments' own URLs, at once and with no overlap.
import { rotateOverrideSecret as decideRotation } from '../../domain/account/account.ts';
import { streamName } from '../../domain/kernel/event.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { ACCOUNT } from '../core/aggregates.ts';
import { CommandContention, type CommandHandler } from '../core/commandHandler.ts';
import { byRequest, type Requester } from '../core/eventMetadata.ts';
import type { Tenant } from '../ports/paymentProvider.ts';
import type { WebhookSecrets } from '../ports/secrets.ts';
import { keepOverrideSecret } from './overrideSecret.ts';

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly secrets: WebhookSecrets;
}

/** Each lost one means that another rotation was made meanwhile. */
const ATTEMPTS_MAX = 10;

/** The new secret, 64 hex characters: nobody else was shown it. Throws CommandContention when others keep being faster. */
export const rotateOverrideSecret =
  ({ commands, accounts, secrets }: Needs) =>
  async (tenant: Tenant, requester: Requester): Promise<string | Rejection> => {
    const { accountId: account, mode } = tenant;
    const stream = streamName.account(account);
    const why = byRequest(requester, tenant, account);
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const version = (await accounts.refresh(account)).overrideSecretVersion[mode] + 1;
      // Kept before the event that names it: a version without a secret could never be signed for.
      const secret = await keepOverrideSecret(secrets, tenant, version);
      const decide = decideRotation(mode, version, await accounts.now(account, mode));
      const done = await commands.execute(ACCOUNT, stream, decide, why);
      if (isRejection(done)) return done;
      if (done.reply === 'rotated') return secret;
    }
    throw new CommandContention(`override secret of ${account}: ${ATTEMPTS_MAX} rotations in a row were faster`);
  };
