// `npm start`: everything in one process. Exit code 0 after SIGTERM or SIGINT, 2 when the environment is wrong, 1 on a fault.
import { CheckpointMismatch } from '../../projections/engine/checkpoints.ts';
import { loadConfig } from './config.ts';
import { isOperatorsError } from './database.ts';
import { demoFile } from './demoAccount.ts';
import { type Log, openLog } from './log.ts';
import { NewerSchema } from './migrate.ts';
import { type Program, startProgram } from './program.ts';
import { welcome } from './welcome.ts';

const explain = (error: unknown): number => {
  const { message, stack } = error as Error;
  const isExplained = isOperatorsError(error) || error instanceof NewerSchema || error instanceof CheckpointMismatch;
  process.stderr.write(isExplained ? `quita: ${message}\n` : `quita: ${stack ?? message}\n`);
  return isExplained ? 2 : 1;
};

/** Resolves at the first SIGTERM or SIGINT; later ones change nothing: the stop is bounded. */
const stopAsked = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve());
  });

const run = async (log: Log, asked: Promise<void>): Promise<number> => {
  const config = loadConfig(process.env);
  log.level = config.logLevel;
  let program: Program;
  try {
    program = await startProgram(config, log);
  } catch (error) {
    return explain(error);
  }
  process.stdout.write(welcome(config, program.demo, demoFile(config.dataDir)));
  const broken = await Promise.race([asked.then(() => null), program.broken]);
  if (broken) process.stderr.write(`quita: ${broken.message}\n`);
  await program.stop();
  if (broken === null) return 0;
  return broken instanceof CheckpointMismatch ? 2 : 1;
};

const log = openLog('info');
// What nobody expected ends the program: it starts again from what is stored, which is always whole.
for (const event of ['uncaughtException', 'unhandledRejection'] as const)
  process.on(event, (err: unknown) => {
    log.fatal({ err }, event);
    process.exit(1);
  });
process.exit(await run(log, stopAsked()).catch(explain));
