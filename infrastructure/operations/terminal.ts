// CLI commands that inspect and retry the platform's work.
import { eventCommands } from '../cli/events.ts';
import { jobCommands } from '../cli/jobs.ts';
import { ledgerCommands } from '../cli/ledger.ts';
import { parkedCommands } from '../cli/parked.ts';
import { projectionCommands } from '../cli/projections.ts';

export const commands = [...jobCommands, ...projectionCommands, ...parkedCommands, ...eventCommands, ...ledgerCommands];
