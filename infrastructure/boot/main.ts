// Runs a process of any role. Exit code 0 after SIGTERM or SIGINT, 2 if the environment is wrong, 1 on an unexpected error.
import { isLoopbackHost } from '../../http/kernel/address.ts';
import { CheckpointMismatch } from '../../projections/engine/checkpoints.ts';
import { outcomeOf } from '../cli/explain.ts';
import { type Config, ConfigError, loadConfig } from '../config/config.ts';
import { type DemoAccount, demoFile } from '../demo/demoAccount.ts';
import { type Log, openLog } from '../log/log.ts';
import { raceAbort } from '../waiting.ts';
import type { Roles } from './gateway.ts';
import { ALL_ROLES, startProgram } from './program.ts';

type RoleName = 'all' | 'api' | 'projector' | 'worker';

const ROLES: { readonly [Name in RoleName]: Roles } = {
  all: ALL_ROLES,
  api: { serves: true, projects: false, works: false },
  projector: { serves: false, projects: true, works: false },
  worker: { serves: false, projects: false, works: true },
};

const explain = (error: unknown): number => {
  const { says, code } = outcomeOf(error, process.env);
  process.stderr.write(`quita: ${says}\n`);
  return code;
};

const isRole = (name: string): name is RoleName => Object.hasOwn(ROLES, name);

const configOf = (name: RoleName): Config => {
  const config = loadConfig(process.env);
  if (name !== 'all' && config.databaseUrl === null)
    throw new ConfigError('DATABASE_URL must be set: the embedded database supports only one process (npm start)');
  return config;
};

/** Returns the dashboard's address and the sign-in data, with the password only if the address is loopback. */
const dashboard = (publicUrl: string, { email, password }: DemoAccount): string =>
  isLoopbackHost(new URL(publicUrl).hostname)
    ? `The dashboard is at ${publicUrl}/dashboard (${email}, password ${password})\n`
    : `The dashboard is at ${publicUrl}/dashboard\n`;

/** Returns the text that a start prints (rule S2). */
const welcome = ({ publicUrl }: Config, demo: DemoAccount | null, demoPath: string): string => {
  if (demo === null)
    return `Quita is ready at ${publicUrl}\nCreate an account with: npm run cli -- account create --name "My shop" --email me@example.com\n`;
  return `Quita is ready at ${publicUrl}
The documentation is at ${publicUrl}/docs
${dashboard(publicUrl, demo)}The demo account's keys are in ${demoPath}
Create a Pix charge:

  curl -s ${publicUrl}/v1/charges -H 'apikey: ${demo.testApiKey}' -H "Idempotency-Key: first-$(date +%s)" \\
    -H 'content-type: application/json' -d '{"amount": 12345, "payment_method": "pix", "description": "Order 1001"}'

`;
};

const run = async (name: string, log: Log, asked: AbortSignal): Promise<number> => {
  if (!isRole(name)) throw new ConfigError(`there is no role ${name}; the roles are ${Object.keys(ROLES).join(', ')}`);
  const config = configOf(name);
  log.level = config.logLevel;
  const program = await startProgram(config, log, ROLES[name], asked).catch((error: Error) => {
    if (asked.aborted && error.name === 'AbortError') return null;
    throw error;
  });
  if (program === null) return 0;
  if (!asked.aborted)
    process.stdout.write(
      name === 'all'
        ? welcome(config, program.demo, demoFile(config.dataDir))
        : `Quita ${name} is ready at http://${config.host}:${config.port}\n`,
    );
  const broken = await raceAbort(program.broken, asked);
  if (broken) process.stderr.write(`quita: ${broken.message}\n`);
  await program.stop();
  if (broken === null) return 0;
  return broken instanceof CheckpointMismatch ? 2 : 1;
};

/** Runs the role until `asked` aborts, then ends the process. */
export const runRole = async (name: string, asked: AbortSignal): Promise<never> => {
  const log = openLog('info');
  // An unexpected error ends the program. A restart is safe, because the stored state is always consistent.
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (err: unknown) => {
      log.fatal({ err }, event);
      process.exit(1);
    });
  process.exit(await run(name, log, asked).catch(explain));
};
