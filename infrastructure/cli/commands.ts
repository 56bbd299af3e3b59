// All commands, in the order in which --help lists them.
import { DECLARED_SETTINGS } from '../../application/capabilities.ts';
import type { DeclaredSettings } from '../../domain/kernel/accountSetting.ts';
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

/** Returns all commands, with options for these account settings, to which an extension may have added its own. */
export const commandsFor = (declared: DeclaredSettings): readonly CompleteCommand[] => {
  const ofCapabilities = terminals.flatMap(({ commands = [] }): readonly CliCommand[] =>
    typeof commands === 'function' ? commands(declared) : commands,
  );
  const all: readonly CompleteCommand[] = [
    ...ofCapabilities,
    ...doctorCommands,
    ...secretsCommands,
    listenCommand,
    triggerCommand(TRIGGERS),
    demoCommand,
    completionCommand(() => all),
  ].map(complete);
  return all;
};

export const COMMANDS = commandsFor(DECLARED_SETTINGS);
