// All commands, in the order in which --help lists them.
import { ADAPTERS } from '../adapters.ts';
import { demoCommand } from '../demo/tour.ts';
import { type CliCommand, type CompleteCommand, complete } from './command.ts';
import { completionCommand } from './completion.ts';
import { doctorCommands } from './doctor.ts';
import { listenCommand } from './listen.ts';
import { secretsCommands } from './secrets.ts';
import { triggerCommand } from './trigger.ts';

const terminals = await Promise.all(ADAPTERS.map(({ terminal }) => terminal()));
export const TRIGGERS = terminals.flatMap(({ triggers = [] }) => triggers);

const DECLARED: readonly CliCommand[] = [
  ...terminals.flatMap(({ commands = [] }) => commands),
  ...doctorCommands,
  ...secretsCommands,
  listenCommand,
  triggerCommand(TRIGGERS),
  demoCommand,
  completionCommand(() => COMMANDS),
];

export const COMMANDS: readonly CompleteCommand[] = DECLARED.map(complete);
