// What almost every use case needs: the handler of its commands, and the accounts that they belong to.
import type { Accounts } from './accounts.ts';
import type { CommandHandler } from './commandHandler.ts';

export interface UseCaseNeeds {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
}
