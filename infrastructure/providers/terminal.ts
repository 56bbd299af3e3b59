// CLI commands of providers.
import { reconciliationCommands } from '../reconciliation/commands.ts';
import { callbackCommands } from './callbackCommands.ts';
import { providerCommands } from './commands.ts';

export const commands = [...providerCommands, ...callbackCommands, ...reconciliationCommands];
