// `demo --seed` on the embedded database of a running program.
import { type CliResult, UsageError } from '../../cli/command.ts';
import { type Progress, table } from '../../cli/output.ts';
import type { Config } from '../../config/config.ts';
import { demoAccountOf } from '../merchant.ts';
import { quita } from '../quita.ts';
import { SHOPS, type ShopPlan } from './plan.ts';
import { type OpenedShop, seedMonth } from './seedMonth.ts';

const openShop = async ({ name, email, settings }: ShopPlan): Promise<OpenedShop> => {
  const { accountId, testApiKey } = await quita<OpenedShop>('account', 'create', '--name', name, '--email', email);
  await quita('account', 'settings', accountId, ...settings, '--rate-limit', 'none');
  return { accountId, testApiKey };
};

/** Throws UsageError if the shops exist already. */
const assertUnseeded = async (): Promise<void> => {
  const { accounts } = await quita<{ accounts: readonly { readonly email: string }[] }>('account', 'list');
  const emails = new Set(accounts.map(({ email }) => email));
  const found = SHOPS.find(({ email }) => emails.has(email));
  if (found) throw new UsageError(`the shops of the demo exist already (${found.email}): run account list`);
};

export const seedCommand = async (config: Config, progress: Progress): Promise<CliResult> => {
  const { baseUrl } = await demoAccountOf(config);
  await assertUnseeded();
  const onProgress = (done: number, total: number) => progress.show(done / total, `${done} of ${total} days of shops`);
  const seeded = await seedMonth({ baseUrl, openShop, onProgress });
  const rows = seeded.shops.map(({ accountId, name, payments, testApiKey }) => [
    ...[accountId, name, `${payments} payments`, testApiKey],
  ]);
  return {
    json: seeded,
    text: (screen) =>
      `${table(screen, ['ACCOUNT', 'SHOP', seeded.month, 'TEST KEY'], rows)}\nThe keys are shown only now.`,
  };
};
