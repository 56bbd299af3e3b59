// `npm run cli -- …`: what an operator does beside the running program (rule O1). Exit code 0, 1 when something was found wrong,
// 2 when the command or the environment is.
import { accountCommands } from '../cli/account.ts';
import type { CliCommand } from '../cli/command.ts';
import { doctorCommands } from '../cli/doctor.ts';
import { eventCommands } from '../cli/events.ts';
import { heldCommands } from '../cli/held.ts';
import { jobCommands } from '../cli/jobs.ts';
import { ledgerCommands } from '../cli/ledger.ts';
import { parkedCommands } from '../cli/parked.ts';
import { projectionCommands } from '../cli/projections.ts';
import { runCli } from '../cli/run.ts';

const COMMANDS: readonly CliCommand[] = [
  ...accountCommands,
  ...heldCommands,
  ...jobCommands,
  ...projectionCommands,
  ...parkedCommands,
  ...eventCommands,
  ...ledgerCommands,
  ...doctorCommands,
];

process.exit(await runCli(COMMANDS, process.argv.slice(2), process.env, process.stdout, process.stderr));
