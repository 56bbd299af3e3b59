import type { CliCommand } from '../cli/command.ts';
export const privacyCommands: readonly CliCommand[] = [];
