// CLI commands of the audit log.
import { auditorCommands } from './commands/auditor.ts';
import { auditCommands } from './commands/operate.ts';

export const commands = [...auditCommands, ...auditorCommands];
