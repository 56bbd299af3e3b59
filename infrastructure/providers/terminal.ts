// CLI commands of providers.
import { providerCommands } from './commands.ts';

export const commands = providerCommands;
