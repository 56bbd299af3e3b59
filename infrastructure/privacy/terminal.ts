// CLI commands about personal data.
import { privacyCommands } from '../cli/privacy.ts';

export const commands = privacyCommands;
