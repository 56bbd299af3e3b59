// Test accounts, each with a key for each mode.
import { createHash, randomBytes } from 'node:crypto';
import { openAccountWithKeys } from '../../application/accounts/operateAccounts.ts';
import { DECLARED_SETTINGS } from '../../application/capabilities.ts';
import { Accounts } from '../../application/core/accounts.ts';
import { CommandHandler } from '../../application/core/commandHandler.ts';
import { newAccountId } from '../../application/core/derivedIds.ts';
import type { EventLog } from '../../application/ports/eventCodec.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import type { Gateway } from '../../infrastructure/boot/gateway.ts';
import { systemRandomness, systemStopwatch } from '../../infrastructure/system/system.ts';

const OPENED_AT_ONCE = 200;

export interface TestTenant {
  readonly accountId: AccountId;
  readonly testKey: string;
  readonly liveKey: string;
}

/** Opens an account. Account id and keys derive from `seed`, or are random without one. */
export const newTenant = async (
  { commands, accounts }: Pick<Gateway, 'commands' | 'accounts'>,
  seed?: string,
): Promise<TestTenant> => {
  const bytes = (what: string, count: number): Buffer =>
    seed === undefined
      ? randomBytes(count)
      : createHash('sha256').update(`${seed} ${what}`).digest().subarray(0, count);
  const accountId = newAccountId(bytes('account', 16));
  const keyOf = (mode: 'test' | 'live') => `ak_${mode}_${bytes(mode, 24).toString('base64url')}`;
  const [testKey, liveKey] = [keyOf('test'), keyOf('live')];
  await openAccountWithKeys({ commands, accounts })({
    accountId,
    name: 'Loja de Teste',
    email: 'teste@example.com',
    idSeed: bytes('seed', 32).toString('base64'),
    keys: [
      { mode: 'test', cleartext: testKey, label: 'test' },
      { mode: 'live', cleartext: liveKey, label: 'live' },
    ],
    actor: 'operator:test',
  });
  return { accountId, testKey, liveKey };
};

/** Opens accounts in the log of a running program, about 1,000 per second. */
export const openTenants = async (log: EventLog, count: number): Promise<readonly TestTenant[]> => {
  const commands = new CommandHandler({ ...log, randomness: systemRandomness, stopwatch: systemStopwatch });
  const accounts = new Accounts(commands, { now: () => Date.now() }, DECLARED_SETTINGS);
  const opened: TestTenant[] = [];
  while (opened.length < count) {
    const now = Math.min(OPENED_AT_ONCE, count - opened.length);
    opened.push(...(await Promise.all(Array.from({ length: now }, () => newTenant({ commands, accounts })))));
  }
  return opened;
};
