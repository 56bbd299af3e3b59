// CLI commands of providers.
import { callbackCommands } from './callbackCommands.ts';
import { providerCommands } from './commands.ts';

export const commands = [...providerCommands, ...callbackCommands];
