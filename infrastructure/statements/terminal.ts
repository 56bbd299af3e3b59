// The CLI command that writes statements.
import { statementCommand } from '../cli/statement.ts';

export const commands = [statementCommand];
