// CLI commands of the audit log.
import { auditorCommands } from './auditorCommands.ts';
import { auditCommands } from './commands.ts';

export const commands = [...auditCommands, ...auditorCommands];
