// Every command there is, in the order in which --help lists them.
import { demoCommand } from '../demo/tour.ts';
import { accountCommands } from './account.ts';
import type { CliCommand } from './command.ts';
import { completionCommand } from './completion.ts';
import { doctorCommands } from './doctor.ts';
import { eventCommands } from './events.ts';
import { heldCommands } from './held.ts';
import { jobCommands } from './jobs.ts';
import { ledgerCommands } from './ledger.ts';
import { listenCommand } from './listen.ts';
import { parkedCommands } from './parked.ts';
import { projectionCommands } from './projections.ts';

export const COMMANDS: readonly CliCommand[] = [
  ...accountCommands,
  ...heldCommands,
  ...jobCommands,
  ...projectionCommands,
  ...parkedCommands,
  ...eventCommands,
  ...ledgerCommands,
  ...doctorCommands,
  listenCommand,
  demoCommand,
  completionCommand(() => COMMANDS),
];
