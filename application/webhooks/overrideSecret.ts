// The secret that signs what goes to payments' own URLs: one per account and mode (rule W7).
import { randomBytes } from 'node:crypto';
import type { Accounts } from '../accounts/accounts.ts';
import { overrideSecretIdOf } from '../core/derivedIds.ts';
import type { Tenant } from '../ports/paymentProvider.ts';
import type { WebhookSecrets } from '../ports/secrets.ts';

interface Needs {
  readonly accounts: Accounts;
  readonly secrets: WebhookSecrets;
}

/** 32 random bytes as 64 hex characters; the one that stands when it was kept before. */
export const keepOverrideSecret = (secrets: WebhookSecrets, { accountId, mode }: Tenant, version: number) =>
  secrets.keep(overrideSecretIdOf(accountId, mode), version, randomBytes(32).toString('hex'));

/** The one of now, whichever process rotated it last. Before the first rotation one is made, which nobody is shown. */
export const overrideSecret = async ({ accounts, secrets }: Needs, tenant: Tenant): Promise<string> => {
  const { accountId, mode } = tenant;
  const version = (await accounts.refresh(accountId)).overrideSecretVersion[mode];
  const known = await secrets.find(overrideSecretIdOf(accountId, mode), version);
  if (known !== null) return known;
  if (version > 0) throw new Error(`override secret ${version} of ${accountId} in ${mode} mode is missing`);
  return keepOverrideSecret(secrets, tenant, version);
};
