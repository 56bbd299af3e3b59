// Every command there is, in the order in which --help lists them.
import { demoCommand } from '../demo/tour.ts';
import { accountCommands } from './account.ts';
import type { CliCommand } from './command.ts';
import { completionCommand } from './completion.ts';
import { deliveryCommands } from './deliveries.ts';
import { doctorCommands } from './doctor.ts';
import { eventCommands } from './events.ts';
import { heldCommands } from './held.ts';
import { jobCommands } from './jobs.ts';
import { keyCommands } from './keys.ts';
import { ledgerCommands } from './ledger.ts';
import { listenCommand } from './listen.ts';
import { medCommands } from './med.ts';
import { parkedCommands } from './parked.ts';
import { payoutCommands } from './payouts.ts';
import { projectionCommands } from './projections.ts';
import { redriveCommand } from './redrive.ts';
import { requestCommands } from './requests.ts';
import { secretsCommands } from './secrets.ts';
import { suspensionCommands } from './suspension.ts';
import { triggerCommand } from './trigger.ts';
import { userCommands } from './user.ts';

export const COMMANDS: readonly CliCommand[] = [
  ...accountCommands,
  ...suspensionCommands,
  ...keyCommands,
  ...userCommands,
  ...heldCommands,
  ...medCommands,
  ...payoutCommands,
  ...jobCommands,
  ...projectionCommands,
  ...parkedCommands,
  ...eventCommands,
  ...requestCommands,
  ...ledgerCommands,
  ...doctorCommands,
  ...secretsCommands,
  listenCommand,
  triggerCommand,
  ...deliveryCommands,
  redriveCommand,
  demoCommand,
  completionCommand(() => COMMANDS),
];
