// CLI commands of the audit log.
import { auditorCommands } from '../cli/auditor.ts';
import { auditCommands } from './commands.ts';

export const commands = [...auditCommands, ...auditorCommands];
