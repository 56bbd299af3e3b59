// CLI commands about personal data.
import { privacyCommands } from './commands.ts';

export const commands = privacyCommands;
