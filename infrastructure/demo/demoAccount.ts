// The demo account of the embedded default (rule S2): demo.json first, then the account from it; a half-made one is completed.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { openAccountWithKeys } from '../../application/accounts/openAccount.ts';
import type { Accounts } from '../../application/core/accounts.ts';
import type { CommandHandler } from '../../application/core/commandHandler.ts';
import { type AccountId, encodeRawId } from '../../domain/kernel/ids.ts';
import { ConfigError } from '../boot/config.ts';
import { newApiKey, newPassword } from '../secrets/newSecrets.ts';
import { readIfThere, writeWhole } from '../secrets/privateFiles.ts';

export interface DemoAccount {
  readonly baseUrl: string;
  readonly email: string;
  readonly password: string;
  readonly testApiKey: string;
  readonly liveApiKey: string;
}

const FIELDS = ['baseUrl', 'email', 'password', 'testApiKey', 'liveApiKey'] as const;

export const demoFile = (dataDir: string): string => join(dataDir, 'demo.json');

const read = async (path: string): Promise<DemoAccount | null> => {
  const text = await readIfThere(path);
  if (text === null) return null;
  try {
    const demo = JSON.parse(text) as DemoAccount;
    if (FIELDS.every((field) => typeof demo[field] === 'string')) return demo;
  } catch {
    // told below
  }
  throw new ConfigError(
    `DATA_DIR: ${path} is not what the first start wrote: restore it, or move it away for a new demo account`,
  );
};

/** For tools beside the running program. */
export const readDemoAccount = async (path: string): Promise<DemoAccount> => {
  const demo = await read(path);
  if (demo === null) throw new ConfigError(`there is no demo account in ${path}: start it first with npm start`);
  return demo;
};

/** Derived from the file, so that completing a half-made account finds the same one. */
const derived = (demo: DemoAccount, what: string): Buffer =>
  createHash('sha256').update(`${what}\n${demo.testApiKey}\n${demo.liveApiKey}`).digest();

export const ensureDemoAccount = async (
  dataDir: string,
  baseUrl: string,
  needs: { commands: CommandHandler; accounts: Accounts },
): Promise<DemoAccount> => {
  const path = demoFile(dataDir);
  let demo = await read(path);
  if (demo === null || demo.baseUrl !== baseUrl) {
    const fresh = {
      email: 'demo@quita.example',
      password: newPassword(),
      testApiKey: newApiKey('test'),
      liveApiKey: newApiKey('live'),
    };
    demo = {
      baseUrl,
      ...(demo
        ? { email: demo.email, password: demo.password, testApiKey: demo.testApiKey, liveApiKey: demo.liveApiKey }
        : fresh),
    };
    await writeWhole(path, `${JSON.stringify(demo, null, 2)}\n`);
  }
  await openAccountWithKeys(needs)({
    accountId: encodeRawId(derived(demo, 'account').subarray(0, 16)) as AccountId,
    name: 'Loja Demo',
    email: demo.email,
    // The keys are secrets of 24 random bytes each: what is derived from both is as good as random.
    idSeed: derived(demo, 'seed').toString('base64'),
    keys: [
      { mode: 'test', cleartext: demo.testApiKey, label: 'demo (test)' },
      { mode: 'live', cleartext: demo.liveApiKey, label: 'demo (live)' },
    ],
    actor: 'operator:first start',
  });
  return demo;
};
