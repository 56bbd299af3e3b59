// Creates the demo account of the embedded database (rule S2): first demo.json, then the account and its owner from it. A start that was
// interrupted is completed by the next one.

import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { newApiKey } from '../../application/accounts/manageKeys.ts';
import { openAccountWithKeys } from '../../application/accounts/operateAccounts.ts';
import { type AddUserNeeds, addUser, isUser, newPassword } from '../../application/accounts/users.ts';
import { newAccountId } from '../../application/core/derivedIds.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { ConfigError } from '../config/config.ts';
import { readIfThere, writeWhole } from '../secrets/privateFiles.ts';
import { systemRandomness } from '../system/system.ts';

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
    // The file is rejected below.
  }
  throw new ConfigError(`DATA_DIR: ${path} is damaged: restore it, or move it away to get a new demo account`);
};

/** Reads the demo account, for tools beside the running program. Throws ConfigError if there isn't one. */
export const readDemoAccount = async (path: string): Promise<DemoAccount & { readonly accountId: AccountId }> => {
  const demo = await read(path);
  if (demo === null) throw new ConfigError(`no demo account in ${path}: run npm start first`);
  return { ...demo, accountId: accountIdOf(demo) };
};

const accountIdOf = (demo: DemoAccount): AccountId => newAccountId(derived(demo, 'account').subarray(0, 16));

const EMAIL = 'demo@quita.example';
const ACTOR = 'operator:first start';

/** Derives a value from the file, so that an interrupted creation continues with the same ids. */
const derived = (demo: DemoAccount, what: string): Buffer =>
  createHash('sha256').update(`${what}\n${demo.testApiKey}\n${demo.liveApiKey}`).digest();

export const ensureDemoAccount = async (
  dataDir: string,
  baseUrl: string,
  needs: AddUserNeeds,
): Promise<DemoAccount> => {
  const path = demoFile(dataDir);
  let demo = await read(path);
  if (demo === null || demo.baseUrl !== baseUrl) {
    const fresh = {
      // With a new demo.json on an old database, the address may belong to the previous owner.
      email: (await isUser(needs)(EMAIL)) ? `demo-${randomBytes(4).toString('hex')}@quita.example` : EMAIL,
      password: newPassword(systemRandomness),
      testApiKey: newApiKey('test', systemRandomness),
      liveApiKey: newApiKey('live', systemRandomness),
    };
    demo = {
      baseUrl,
      ...(demo
        ? { email: demo.email, password: demo.password, testApiKey: demo.testApiKey, liveApiKey: demo.liveApiKey }
        : fresh),
    };
    await writeWhole(path, `${JSON.stringify(demo, null, 2)}\n`);
  }
  const accountId = accountIdOf(demo);
  await openAccountWithKeys(needs)({
    accountId,
    name: 'Loja Demo',
    email: demo.email,
    // Each key has 24 random bytes, so a value derived from both is as good as random.
    idSeed: derived(demo, 'seed').toString('base64'),
    keys: [
      { mode: 'test', cleartext: demo.testApiKey, label: 'demo (test)' },
      { mode: 'live', cleartext: demo.liveApiKey, label: 'demo (live)' },
    ],
    actor: ACTOR,
  });
  const { email, password } = demo;
  const by = { actor: ACTOR, requestId: null };
  // Rejected if the owner exists already, whatever the password is now.
  await addUser(needs)({ accountId, email, name: 'Loja Demo', role: 'OWNER', password }, by);
  return demo;
};
