// The commands for accounts.
import { accountCommands } from '../cli/account.ts';
import { keyCommands } from '../cli/keys.ts';
import { suspensionCommands } from '../cli/suspension.ts';
import { userCommands } from '../cli/user.ts';

export const commands = [...accountCommands, ...suspensionCommands, ...keyCommands, ...userCommands];
