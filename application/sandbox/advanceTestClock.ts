// POST /v1/sandbox/clock/advance (rule X5).
import { advanceTestClock } from '../../domain/account/account.ts';
import { streamName } from '../../domain/kernel/event.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { ACCOUNT } from '../core/aggregates.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { type Actor, byRequest } from '../core/eventMetadata.ts';

export const advanceClock =
  ({ commands, accounts }: { commands: CommandHandler; accounts: Accounts }) =>
  async (accountId: AccountId, seconds: number, requester: Actor): Promise<Rejection | null> => {
    const why = byRequest(requester, { accountId, mode: 'test' }, accountId);
    const done = await commands.execute(
      ACCOUNT,
      streamName.account(accountId),
      advanceTestClock(seconds, accounts.realNow()),
      why,
    );
    return isRejection(done) ? done : null;
  };
