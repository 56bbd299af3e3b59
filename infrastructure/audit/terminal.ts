// CLI commands of the audit log.
import { auditCommands } from './commands.ts';

export const commands = [...auditCommands];
