// The demo account of the embedded default (rule S2): demo.json first, then the account and its owner from it; a half-made one is
// completed.

import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type AddUserNeeds, addUser, isUser } from '../../application/accounts/addUser.ts';
import { newApiKey } from '../../application/accounts/newKey.ts';
import { newPassword } from '../../application/accounts/newPassword.ts';
import { openAccountWithKeys } from '../../application/accounts/openAccount.ts';
import { newAccountId } from '../../application/core/derivedIds.ts';
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
    // refused below
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

const EMAIL = 'demo@quita.example';
const ACTOR = 'operator:first start';

/** Derived from the file, so that completing a half-made account finds the same one. */
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
      // With a new demo.json on an old database the address may be that of the owner before.
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
  const accountId = newAccountId(derived(demo, 'account').subarray(0, 16));
  await openAccountWithKeys(needs)({
    accountId,
    name: 'Loja Demo',
    email: demo.email,
    // The keys are secrets of 24 random bytes each: what is derived from both is as good as random.
    idSeed: derived(demo, 'seed').toString('base64'),
    keys: [
      { mode: 'test', cleartext: demo.testApiKey, label: 'demo (test)' },
      { mode: 'live', cleartext: demo.liveApiKey, label: 'demo (live)' },
    ],
    actor: ACTOR,
  });
  const { email, password } = demo;
  const by = { actor: ACTOR, requestId: null };
  // Refused where the owner is there already: also one who has changed the password since.
  await addUser(needs)({ accountId, email, name: 'Loja Demo', role: 'OWNER', password }, by);
  return demo;
};
